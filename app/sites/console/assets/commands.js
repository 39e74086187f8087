"use strict";
// Commands without leaving the page. A form that leads to a preview, or from it to the execution, is sent from
// here: the preview is shown beside the page, and what was done below it, with a button that takes it back. The
// forms and pages are those that work without this script.
(() => {
  const panel = document.getElementById("panel");
  const note = document.getElementById("note");
  const texts = panel.dataset;
  const UNDO = 5000; // how long "u" takes back what was done last
  const LEAST = 0.03; // what an operator may hold (`hold_probability`), and what is left of certainty
  const key = window.keyOf;
  let origin = null; // what had the focus before the panel
  let gone = 0;
  let showMode = () => {}; // writes the prices again; on a page with prices

  const inRow = () => document.activeElement?.closest("tbody[data-rows] > tr");
  const refocus = () => { if (origin?.isConnected) origin.focus({ preventScroll: true }); origin = null; };

  function close() {
    panel.hidden = true;
    panel.querySelector("div").replaceChildren();
    refocus();
  }

  function open(page) {
    const content = page.getElementById("content");
    content.querySelector("h1")?.setAttribute("tabindex", "-1");
    panel.querySelector("div").replaceChildren(...content.childNodes);
    panel.hidden = false;
    // What Enter is for: to do it. A refusal is read first.
    const first = ["[role=alert]", "button.main", "summary", "h1"].map((each) => panel.querySelector(each)).find(Boolean);
    if (first?.matches("[role=alert]")) first.tabIndex = -1;
    first?.focus({ preventScroll: true });
    panel.scrollTop = 0;
  }

  // What the command has changed of this page, beside the rows that move by themselves.
  function refresh(page) {
    for (const old of document.querySelectorAll("#content [data-fresh]")) {
      const fresh = page.getElementById(old.id);
      if (!fresh) {
        old.remove();
        continue;
      }
      if (old.open) fresh.open = true;
      old.replaceWith(fresh);
    }
  }

  // What the page after a command says of it, below this one.
  function noteResult(page) {
    const done = page.querySelector(".done");
    const result = done || page.querySelector("[role=alert]");
    if (result) showNote([...result.childNodes], !done);
  }

  function showNote(content, bad) {
    note.querySelector("div").replaceChildren(...content);
    note.className = bad ? "problem" : "done";
    note.hidden = false;
    clearTimeout(gone);
    // What went wrong stays until something else is said.
    if (!bad) gone = setTimeout(() => { note.hidden = true; }, UNDO);
  }

  const sending = () => document.documentElement.dataset.sending;

  async function send(action, fields) {
    if (sending()) return;
    document.documentElement.dataset.sending = "1";
    let leaving = false;
    try {
      const answer = await fetch(action, { method: "POST", body: new URLSearchParams(fields) });
      // To sign in again, or to the command that waits for the consent of somebody else.
      leaving = answer.redirected && /\/(sign-in|consents\/\d+)$/.test(new URL(answer.url).pathname);
      if (leaving) {
        location.assign(answer.url);
        return;
      }
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (answer.redirected) {
        if (new URL(answer.url).pathname === location.pathname) refresh(page);
        close();
        noteResult(page);
      } else open(page);
    } catch {
      showNote([texts.failed], true);
    } finally {
      if (!leaving) delete document.documentElement.dataset.sending;
    }
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!/\/(preview|commands)$/.test(new URL(form.action).pathname)) return;
    event.preventDefault();
    if (sending()) return;
    if (!panel.contains(form) && !note.contains(form)) origin = document.activeElement;
    if (note.contains(form)) note.hidden = true;
    send(form.action, new FormData(form, event.submitter));
  });

  panel.addEventListener("click", (event) => {
    // The preview's link back is the way out of the panel.
    if (event.target.closest("a.button, button.close")) {
      event.preventDefault();
      close();
    }
  });

  // The match of the focused row, or of the page.
  function suspend() {
    const form = document.getElementById("at-once");
    const row = inRow();
    const link = row?.closest("[data-rows=matches]") ? row.querySelector("a[href]") : null;
    const path = link ? link.getAttribute("href") : form?.dataset.match;
    if (!form || !path) return;
    origin = document.activeElement;
    const fields = new FormData(form);
    fields.set("request_id", `console:${Date.now()}-${Math.random()}`);
    send(`${path}/commands`, fields);
  }

  const mode = () => document.querySelector("#modes [aria-pressed=true]").value;

  // The probability that was typed: a chance with a percent sign, or in the mode that shows chances; else odds, with
  // the margin that the price has now, or without one in the mode that shows fair odds. NaN for anything else.
  function probabilityOf(typed, { odds, chance }) {
    const text = typed.trim().replace(",", ".");
    if (!/^\d+(\.\d+)?%?$/.test(text)) return NaN;
    const value = parseFloat(text);
    if (text.endsWith("%") || mode() === "chance") return value / 100;
    if (value <= 1) return NaN;
    return mode() === "fair" ? 1 / value : (Number(odds) * Number(chance)) / value;
  }

  // A price is edited where it stands; the preview shows what the engine makes of it.
  function edit(price) {
    const row = price.closest("tr");
    const cell = price.closest("td");
    const input = document.createElement("input");
    input.className = "edit";
    input.inputMode = "decimal";
    input.setAttribute("aria-label", texts.edit);
    input.value = price.querySelector("b").textContent.replace(/\s/g, "");
    let ended = false; // a field that is removed loses the focus, too
    const end = () => {
      if (ended) return;
      ended = true;
      input.replaceWith(price);
      if (cell.latest === undefined) return;
      cell.innerHTML = cell.latest; // what came meanwhile (`rows.js`)
      delete cell.latest;
      showMode();
    };
    input.addEventListener("blur", end);
    input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") {
        end();
        row.focus();
      }
      if (event.key !== "Enter" || event.repeat) return;
      const probability = probabilityOf(input.value, price.dataset);
      if (!(probability >= LEAST && probability <= 1 - LEAST)) {
        input.setAttribute("aria-invalid", "true");
        return;
      }
      end();
      row.focus();
      origin = row;
      hold(price, probability);
    });
    price.replaceWith(input);
    cell.querySelector(".edit").select();
  }

  function hold(price, probability) {
    const form = document.getElementById("at-once");
    const name = decodeURIComponent(price.getAttribute("href").split("/markets/")[1]);
    const split = name.indexOf(":");
    const fields = new FormData();
    fields.set("csrf_token", form.elements.csrf_token.value);
    fields.set("command", "hold_probability");
    fields.set("market_id", name.slice(0, split));
    fields.set("specifiers", name.slice(split + 1));
    fields.set("probability", probability.toFixed(4));
    fields.set("back", form.dataset.match);
    send(`${form.dataset.match}/preview`, fields);
  }

  // All that can be done with a market: the head of its page and its commands, beside this one.
  async function show(price) {
    const row = price.closest("tr");
    const answer = await fetch(price.href).catch(() => null);
    if (!answer || !answer.ok || answer.redirected) return location.assign(price.href);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const content = page.getElementById("content");
    content.replaceChildren(...content.querySelectorAll("h1, #now, #actions"));
    origin = row;
    open(page);
  }

  // A page that the browser shows again, by Back, sends nothing.
  addEventListener("pageshow", () => { delete document.documentElement.dataset.sending; });

  const trades = () => document.getElementById("at-once")?.dataset.match;

  document.addEventListener("click", (event) => {
    const price = event.target.closest("[data-rows=markets] a.price");
    if (!price || !trades() || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    edit(price);
  });

  // A key that is held down gives no command, and none is given while another is being sent.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.repeat || sending())) return;
    event.preventDefault();
    event.stopPropagation();
  }, true);

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.repeat) return;
    if (event.key === "Escape" && !panel.hidden) return close();
    if (!panel.hidden || event.altKey || event.ctrlKey || event.metaKey || document.querySelector("dialog[open]")) return;
    if (event.target.closest("input, select, textarea")) return;
    const row = inRow();
    const price = document.activeElement.closest("a.price") || row?.querySelector(".main ~ a.price") || row?.querySelector("a.price");
    const pressed = key(event);
    if (pressed === "s") suspend();
    else if (pressed === "u" && !note.hidden) note.querySelector("form")?.requestSubmit();
    else if (pressed === "e" && price && trades()) edit(price);
    else if (pressed === "m" && price) show(price);
    else if (pressed === "v") (document.querySelector("#modes [aria-pressed=true] + button") || document.querySelector("#modes button"))?.click();
    else return;
    event.preventDefault();
  });

  // What prices show: odds, the chance (with the margin), or odds without margin.
  const modes = document.getElementById("modes");
  if (modes) {
    const written = { odds: (odds) => odds, chance: (_, chance) => `${(100 * chance).toFixed(1)} %`, fair: (_, chance) => (1 / chance).toFixed(3) };
    showMode = () => {
      const table = document.querySelector("[data-rows=markets]");
      table.dataset.mode = mode();
      for (const price of table.querySelectorAll("a.price")) {
        const { odds, chance } = price.dataset;
        const text = written[mode()](odds, Number(chance));
        const shown = price.querySelector("b");
        if (shown.textContent !== text) shown.textContent = text;
      }
    };
    modes.hidden = false;
    modes.addEventListener("click", (event) => {
      const chosen = event.target.closest("button");
      if (!chosen) return;
      for (const each of modes.querySelectorAll("button")) each.setAttribute("aria-pressed", String(each === chosen));
      showMode();
    });
    document.addEventListener("moved", ({ detail }) => detail === "markets" && showMode());
  }
})();

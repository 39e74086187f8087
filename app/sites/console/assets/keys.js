"use strict";
// Rows by keyboard: arrows move through the rows of all tables, Home and End within one, left and right through
// the links of a row; j and k as down and up; Enter opens the row's first link, or the one that has the focus;
// Escape leaves the rows. "/" focuses the page's filter, where there is one, "g" then a letter opens a page of the
// navigation, "?" lists the keys, and Ctrl-K finds a page, a match, an offer or a command.

// The key of an event by its letter on a Latin layout, whatever layout is chosen and whether or not Caps Lock is on.
window.keyOf = (event) => {
  const letter = /^Key([A-Z])$/.exec(event.code);
  if (letter && !/^[a-zA-Z]$/.test(event.key) && event.key.length === 1) return letter[1].toLowerCase();
  if (event.code === "Slash" && /^[.,]$/.test(event.key)) return event.shiftKey ? "?" : "/";
  return event.key.length === 1 ? event.key.toLowerCase() : event.key;
};

(() => {
  const GOES = 1500; // so long after "g" a letter opens a page
  const editing = (target) => target.closest("input, select, textarea, button, [contenteditable]");
  const visible = (rows) => [...rows].filter((row) => row.getClientRects().length);
  const all = () => visible(document.querySelectorAll("tbody[data-rows] > tr:not(.section)"));

  function focus(row) {
    if (!row) return;
    for (const other of row.parentElement.rows) other.tabIndex = other === row ? 0 : -1;
    row.focus();
  }

  function move(row, key) {
    const by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[key];
    if (by) {
      const rows = all();
      focus(rows[rows.indexOf(row) + by]);
    } else if (key === "Home") focus(visible(row.parentElement.rows)[0]);
    else if (key === "End") focus(visible(row.parentElement.rows).at(-1));
    else if (key === "ArrowRight" || key === "ArrowLeft") {
      const links = [...row.querySelectorAll("a[href]")];
      const next = links[links.indexOf(document.activeElement) + (key === "ArrowRight" ? 1 : -1)];
      (next || row).focus();
    } else if (key === "Escape") document.activeElement.blur();
    else return false;
    return true;
  }

  let unread = false; // whether the live matches could not be read

  // What Ctrl-K finds: pages, the live matches, and what the page has of offers and commands.
  async function targets() {
    const found = [...document.querySelectorAll("nav a")].map((link) => [link.textContent.trim(), () => link.click()]);
    for (const row of document.querySelectorAll("[data-rows=markets] > tr")) {
      if (row.querySelector("a.price")) found.push([row.cells[0].textContent.trim(), () => focus(row)]);
    }
    for (const form of document.querySelectorAll("details.command"))
      found.push([form.querySelector("summary").textContent.trim(), () => { form.closest("#actions").open = form.open = true; form.querySelector("input:not([type=hidden]), select, button").focus(); }]);
    let live = document;
    if (!document.querySelector("[data-rows=matches]")) {
      const text = await fetch(document.querySelector("a.brand").href)
        .then((answer) => (answer.ok ? answer.text() : null))
        .catch(() => null);
      unread = text === null; // what this page has is found all the same
      live = new DOMParser().parseFromString(text || "", "text/html");
    }
    for (const link of live.querySelectorAll("[data-rows=matches] a")) {
      const path = link.getAttribute("href");
      found.push([link.textContent.trim(), () => location.assign(path)]);
    }
    return found;
  }

  const finder = document.getElementById("finder");
  const input = finder.querySelector("input");
  const list = finder.querySelector("ul");
  let known = [];

  function search() {
    const words = input.value.toLowerCase().split(/\s+/);
    const fitting = known.filter(([name]) => words.every((word) => name.toLowerCase().includes(word))).slice(0, 12);
    list.replaceChildren(...fitting.map(([name, go]) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = name;
      button.addEventListener("click", () => { finder.close(); go(); });
      const item = document.createElement("li");
      item.append(button);
      return item;
    }));
    if (unread) list.append(Object.assign(document.createElement("li"), { textContent: finder.dataset.unread }));
  }

  async function find() {
    finder.showModal();
    input.value = "";
    known = await targets();
    search();
  }

  input.addEventListener("input", search);
  finder.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target === input) {
      event.preventDefault();
      list.querySelector("button")?.click();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const stops = [input, ...list.querySelectorAll("button")];
      stops[stops.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1)]?.focus();
    }
  });

  let going = -Infinity; // when "g" was pressed

  document.addEventListener("keydown", (event) => {
    const pressed = window.keyOf(event);
    if (event.ctrlKey && pressed === "k") {
      event.preventDefault();
      if (!document.querySelector("dialog[open]")) find();
      return;
    }
    if (event.altKey || event.ctrlKey || event.metaKey || document.querySelector("dialog[open]")) return;
    const row = event.target.closest("tbody[data-rows] > tr");
    if (editing(event.target)) return;
    if (row && event.target === row && event.key === "Enter") {
      const link = row.querySelector("a[href]");
      if (link) link.click();
      return;
    }
    if (row && move(row, pressed)) {
      event.preventDefault();
      return;
    }
    if (event.timeStamp - going < GOES) {
      going = -Infinity;
      event.preventDefault(); // it is no command then
      const link = document.querySelector(`nav a[data-key="${CSS.escape(pressed)}"]`);
      if (link) link.click();
      return;
    }
    if (pressed === "g") going = event.timeStamp;
    else if (pressed === "?") document.getElementById("keys").showModal();
    else if (pressed === "/") {
      const filter = document.getElementById("filter");
      if (filter) {
        event.preventDefault();
        filter.focus();
      }
    } else if (pressed === "j" || pressed === "ArrowDown") {
      const [first] = all();
      if (first && event.target === document.body) {
        event.preventDefault();
        focus(first);
      }
    }
  });

  // Rows without what is typed are not shown; Escape, or an empty filter, shows all.
  const filter = document.getElementById("filter");
  if (filter) {
    const apply = () => {
      const words = filter.value.toLowerCase().split(/\s+/);
      for (const row of document.querySelectorAll("[data-rows=matches] > tr"))
        row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
    };
    filter.addEventListener("input", apply);
    filter.addEventListener("keydown", (event) => {
      if (event.key === "Enter") focus(visible(document.querySelectorAll("[data-rows=matches] > tr"))[0]);
      if (event.key === "Escape") {
        filter.value = "";
        apply();
        filter.blur();
      }
    });
    document.addEventListener("moved", () => filter.value && apply());
  }
})();

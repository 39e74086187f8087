"use strict";
// Keeps the tables of a page current. The service sends, as server-sent events, the cells that have changed
// since the version that the page has (`row_feed`); a cell is written only if its text is another one, so that
// what is focused or selected stays so. The rows themselves are all that is known of what they show.
(() => {
  const place = document.getElementById("moving");
  const connection = document.getElementById("connection");
  const RETRY = 3000;
  const TICK = 500;
  const silent = Number(place.dataset.silent) * 1000; // so long without an event is a lost connection
  let version = place.dataset.version;
  let ahead = 0; // how far the service's clock is ahead of the browser's, in milliseconds
  let source = null;
  let timer = 0;
  let ticked = 0; // when the clocks were written last
  let heard = 0; // when the last event came
  const HOLD = 10000; // so long after the last key or move of the pointer rows keep their places
  let handled = -Infinity; // when that was
  const MOVED = 2000; // so long a price that moved is marked
  const moved = new Map(); // by price, when it moved
  const waiting = new Map(); // by table, the order that waits until nobody points at it

  // Clocks are written where somebody can see them: with hundreds of rows that is one in ten.
  const near = new Set();
  const watcher = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) isIntersecting ? near.add(target) : near.delete(target);
  }, { rootMargin: "100px" });

  const rowsOf = (body) => new Map([...body.rows].map((row) => [row.dataset.key, row]));

  // A price that moved has an arrow and another ground for a moment.
  function mark(cell, before) {
    cell.querySelectorAll("[data-odds]").forEach((price, index) => {
      const was = Number(before[index]);
      const by = Number(price.dataset.odds) - was;
      if (!was || !by) return;
      price.classList.add(by > 0 ? "up" : "down");
      moved.set(price, performance.now());
    });
  }

  function write(row, css, cells, count) {
    if (row.className !== css) row.className = css;
    for (const [index, html] of Object.entries(cells)) {
      while (row.cells.length <= index) row.insertCell();
      const cell = row.cells[index];
      if (cell.querySelector(".edit")) cell.latest = html; // shown once nobody types there (`commands.js`)
      if (cell.innerHTML === html || cell.latest !== undefined) continue;
      const before = [...cell.querySelectorAll("[data-odds]")].map((price) => price.dataset.odds);
      const focused = [...cell.querySelectorAll("a")].indexOf(document.activeElement);
      cell.innerHTML = html;
      if (focused >= 0) cell.querySelectorAll("a")[focused]?.focus({ preventScroll: true });
      mark(cell, before);
    }
    while (row.cells.length > count) row.deleteCell(-1);
  }

  // Moves few rows, because each is laid out anew: a row that is passed over goes to its place when its turn comes.
  function arrange(body, rows, order) {
    const wanted = new Set(order);
    const focused = document.activeElement;
    for (const [key, row] of rows) {
      if (wanted.has(key)) continue;
      row.remove();
      watcher.unobserve(row);
      near.delete(row);
    }
    let before = body.firstElementChild;
    for (const key of order) {
      const row = rows.get(key);
      if (!row) continue;
      if (row === before || (before && row === before.nextElementSibling)) before = row.nextElementSibling;
      else body.insertBefore(row, before);
    }
    if (focused !== document.activeElement && body.contains(focused)) focused.focus({ preventScroll: true });
    if (body.rows.length && ![...body.rows].some((row) => row.tabIndex === 0)) body.rows[0].tabIndex = 0;
  }

  // The rows of matches keep their places while somebody is at work on them: new ones come last.
  const held = (body) => body.dataset.rows === "matches" && performance.now() - handled < HOLD
    && (body.matches(":hover") || body.contains(document.activeElement));

  function order(body, rows, wanted) {
    if (!held(body)) {
      waiting.delete(body);
      arrange(body, rows, wanted);
      return;
    }
    waiting.set(body, wanted);
    const known = [...body.rows].map((row) => row.dataset.key).filter((key) => wanted.includes(key));
    arrange(body, rows, [...known, ...wanted.filter((key) => !known.includes(key))]);
  }

  function release() {
    for (const [body, wanted] of waiting) if (!held(body)) order(body, rowsOf(body), wanted);
  }

  function update(name, changes) {
    const body = place.querySelector(`[data-rows="${name}"]`);
    if (!body) return;
    const rows = rowsOf(body);
    for (const [key, [css, cells, count]] of Object.entries(changes.rows)) {
      let row = rows.get(key);
      if (!row) {
        row = document.createElement("tr");
        row.dataset.key = key;
        row.tabIndex = -1;
        watcher.observe(row);
        rows.set(key, row);
      }
      write(row, css, cells, count);
    }
    if (changes.order) order(body, rows, changes.order);
    body.dispatchEvent(new CustomEvent("moved", { bubbles: true, detail: name }));
  }

  const minutes = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;

  function tick() {
    ticked = performance.now();
    for (const [price, at] of moved) {
      if (ticked - at < MOVED) continue;
      price.classList.remove("up", "down");
      moved.delete(price);
    }
    const now = Date.now() + ahead;
    const put = (each, text) => { if (each.textContent !== text) each.textContent = text; };
    const visible = (name) => [...near].flatMap((row) => [...row.getElementsByClassName(name)]);
    for (const clock of visible("clock"))
      put(clock, minutes(Math.max(0, Math.ceil((Number(clock.dataset.ends) - now) / 1000))));
    for (const age of visible("age"))
      put(age, minutes(Math.max(0, Math.floor((now - Number(age.dataset.since)) / 1000))));
    for (const bar of visible("runs")) {
      const share = (Number(bar.dataset.ends) - now) / Number(bar.dataset.lasts);
      const left = 2 * Math.round(50 * Math.max(0, Math.min(1, share)));
      if (bar.dataset.left !== String(left)) {
        bar.dataset.left = left;
        bar.style.setProperty("--left", `${left}%`);
      }
    }
  }

  function shown(message) {
    const changes = JSON.parse(message.data);
    version = changes.version;
    ahead = changes.now - Date.now();
    for (const [name, table] of Object.entries(changes.tables)) update(name, table);
    tick();
  }

  function connect() {
    clearTimeout(timer);
    if (source || document.hidden) return;
    source = new EventSource(`${place.dataset.events}?since=${encodeURIComponent(version)}`);
    heard = performance.now();
    source.onopen = hear;
    source.onmessage = (message) => { hear(); shown(message); };
    source.addEventListener("current", hear);
    source.addEventListener("ended", () => { close(); location.reload(); });
    // Not the browser's own reconnection: it would ask for what came after the version of its first request.
    source.onerror = connectAgain;
  }

  function hear() {
    heard = performance.now();
    connection.hidden = true;
  }

  function connectAgain() {
    close();
    connection.hidden = false;
    timer = setTimeout(connect, RETRY);
  }

  function close() {
    if (source) source.close();
    source = null;
  }

  for (const input of ["keydown", "pointermove"])
    document.addEventListener(input, () => { handled = performance.now(); }, { capture: true, passive: true });
  for (const left of ["pointerout", "focusout"]) place.addEventListener(left, () => setTimeout(release));
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : connect()));
  // Together with what the stream brings, so that the page is laid out once for both.
  setInterval(() => {
    if (performance.now() - ticked > TICK) tick();
    release();
    if (source && performance.now() - heard > silent) connectAgain();
  }, TICK / 2);
  for (const row of place.querySelectorAll("[data-rows] > tr")) watcher.observe(row);
  tick();
  connect();
})();

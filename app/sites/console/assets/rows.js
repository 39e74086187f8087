"use strict";
// Keeps the tables of a page current. The service sends, as server-sent events, the cells that have changed
// since the version that the page has (`row_feed`); a cell is written only if its text is another one, so that
// what is focused or selected stays so. Nothing is remembered beside the rows themselves.
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

  const rowsOf = (body) => new Map([...body.rows].map((row) => [row.dataset.key, row]));

  function write(row, css, cells) {
    if (row.className !== css) row.className = css;
    for (const [index, html] of Object.entries(cells)) {
      while (row.cells.length <= index) row.insertCell();
      const cell = row.cells[index];
      if (cell.innerHTML !== html) cell.innerHTML = html;
    }
  }

  // Moves few rows, because each is laid out anew: a row that is passed over goes to its place when its turn comes.
  function arrange(body, rows, order) {
    const wanted = new Set(order);
    const focused = document.activeElement;
    for (const [key, row] of rows) if (!wanted.has(key)) row.remove();
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

  function update(name, changes) {
    const body = place.querySelector(`[data-rows="${name}"]`);
    if (!body) return;
    const rows = rowsOf(body);
    for (const [key, [css, cells]] of Object.entries(changes.rows)) {
      let row = rows.get(key);
      if (!row) {
        row = document.createElement("tr");
        row.dataset.key = key;
        row.tabIndex = -1;
        rows.set(key, row);
      }
      write(row, css, cells);
    }
    if (changes.order) arrange(body, rows, changes.order);
    body.dispatchEvent(new CustomEvent("moved", { bubbles: true, detail: name }));
  }

  function tick() {
    ticked = performance.now();
    const now = Date.now() + ahead;
    for (const clock of place.getElementsByClassName("clock")) {
      const left = Math.max(0, Math.ceil((Number(clock.dataset.ends) - now) / 1000));
      const text = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
      if (clock.textContent !== text) clock.textContent = text;
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

  document.addEventListener("visibilitychange", () => (document.hidden ? close() : connect()));
  // Together with what the stream brings, so that the page is laid out once for both.
  setInterval(() => {
    if (performance.now() - ticked > TICK) tick();
    if (source && performance.now() - heard > silent) connectAgain();
  }, TICK / 2);
  tick();
  connect();
})();

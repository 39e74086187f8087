"use strict";
// Rows by keyboard: arrows, Home and End move within a table, Enter opens the row's link; j and k as down and up.
// "/" focuses the page's filter, where there is one, "g" then a letter opens a page of the navigation.
(() => {
  const editing = (target) => target.closest("input, select, textarea, button, [contenteditable]");
  const visible = (body) => [...body.rows].filter((row) => !row.hidden);

  function focus(row) {
    if (!row) return;
    for (const other of row.parentElement.rows) other.tabIndex = other === row ? 0 : -1;
    row.focus();
  }

  function move(row, key) {
    const rows = visible(row.parentElement);
    const at = rows.indexOf(row);
    const to = { ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, Home: 0, End: rows.length - 1 }[key];
    if (to === undefined) return false;
    focus(rows[Math.min(Math.max(to, 0), rows.length - 1)]);
    return true;
  }

  let going = false;

  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || editing(event.target)) return;
    const row = event.target.closest("tbody[data-rows] > tr");
    if (row && event.target === row && event.key === "Enter") {
      const link = row.querySelector("a[href]");
      if (link) link.click();
      return;
    }
    if (row && move(row, event.key)) {
      event.preventDefault();
      return;
    }
    if (going) {
      going = false;
      const link = document.querySelector(`nav a[data-key="${CSS.escape(event.key)}"]`);
      if (link) link.click();
      return;
    }
    if (event.key === "g") going = true;
    else if (event.key === "/") {
      const filter = document.getElementById("filter");
      if (filter) {
        event.preventDefault();
        filter.focus();
      }
    } else if (event.key === "j" || event.key === "ArrowDown") {
      const first = document.querySelector("tbody[data-rows] > tr:not([hidden])");
      if (first && event.target === document.body) {
        event.preventDefault();
        focus(first);
      }
    }
  });
})();

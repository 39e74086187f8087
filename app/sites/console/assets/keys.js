"use strict";
// Rows by keyboard: arrows move through the rows of all tables, Home and End within one, Enter opens the row's link;
// j and k as down and up.
// "/" focuses the page's filter, where there is one, "g" then a letter opens a page of the navigation.
(() => {
  const editing = (target) => target.closest("input, select, textarea, button, [contenteditable]");
  const visible = (rows) => [...rows].filter((row) => row.getClientRects().length);
  const all = () => visible(document.querySelectorAll("tbody[data-rows] > tr"));

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
    else return false;
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
      const [first] = all();
      if (first && event.target === document.body) {
        event.preventDefault();
        focus(first);
      }
    }
  });
})();

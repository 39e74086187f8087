// Says that the page is old while its stream of events is lost or silent, and that it is current again.
(() => {
  const place = document.querySelector("[data-silent]");
  const lost = document.getElementById("connection");
  const silent = Number(place.dataset.silent) * 1000;
  let heard = performance.now();

  place.addEventListener("htmx:sse:after:message", () => {
    heard = performance.now();
    lost.hidden = true;
  });
  // While the page is hidden, htmx connects no more.
  document.addEventListener("visibilitychange", () => { heard = performance.now(); });
  place.addEventListener("htmx:sse:error", () => { lost.hidden = false; });
  setInterval(() => {
    if (!document.hidden && performance.now() - heard > silent) lost.hidden = false;
  }, 1000);
})();

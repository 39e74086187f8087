"use strict";
// The colours of tokens.css as a canvas takes them: `light-dark()` is resolved for the theme that is shown.
window.plotColour = (() => {
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  return (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
})();

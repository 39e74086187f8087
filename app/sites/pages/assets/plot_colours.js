"use strict";
// The colour of a token of the style sheet, as a canvas takes it. Tokens depend on the theme (`light-dark()`),
// which a browser resolves in a property of an element, not in the token.
window.plotColour = (name) => {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
};

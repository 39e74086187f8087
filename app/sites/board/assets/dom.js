// Small helpers to build and keep elements; text goes in as text, always.

/** An element with properties and children; strings become text. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  Object.assign(element, properties);
  element.append(...children);
  return element;
}

/** Makes the children of `parent` those of `items` (by `key`), keeping what is there already. */
export function keep(parent, items, key, create, update) {
  const present = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  let place = parent.firstElementChild;
  for (const item of items) {
    const name = String(key(item));
    let child = present.get(name);
    if (child) present.delete(name);
    else {
      child = create(item);
      child.dataset.key = name;
    }
    update(child, item);
    if (child === place) place = place.nextElementSibling;
    else parent.insertBefore(child, place);
  }
  for (const gone of present.values()) gone.remove();
}

/** Changes a text only when it differs, so that nothing flickers and selections stay. */
export function text(element, value) {
  if (element.textContent !== String(value)) element.textContent = value;
}

/** A moment as hours, minutes and seconds where the visitor is. */
export function clock(millis) {
  return new Date(millis).toLocaleTimeString([], { hour12: false });
}

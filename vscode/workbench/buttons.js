// Buttons of Bulkhead's messages, which take a click that was meant for them alone: where a person clicks again and again,
// an extension can have a question come, or come down, under the pointer. Loaded before the workbench, after
// declarations.js; trusted.
(() => {
  "use strict";
  /** ms that a button has stood still, and nobody has clicked there, before it takes a click. */
  const SETTLED = 500;
  /** How often it is looked whether it does, in ms. */
  const LOOK = 100;
  /** After so many looks at a button that is in no page, it is looked at no more. */
  const GONE = 50;
  /** @type {WeakMap<Element, { place: string, since: number }>} */
  const standing = new WeakMap();
  /** Where it is, and since when. @param {Element} button */
  const standOf = (button) => {
    const { x, y } = button.getBoundingClientRect();
    const place = `${x} ${y}`;
    const before = standing.get(button);
    const stand = before?.place === place ? before : { place, since: performance.now() };
    standing.set(button, stand);
    return stand;
  };
  Object.assign(globalThis.bulkhead, {
    /**
     * A button of a message.
     * @param {string | undefined} id whose message it is; none of the window's own
     * @param {Element} button
     */
    watchButton(id, button) {
      if (!globalThis.bulkhead.isAskers(id)) return;
      standOf(button);
      let gone = 0;
      const timer = setInterval(() => {
        standOf(button);
        gone = button.isConnected ? 0 : gone + 1;
        if (gone > GONE) clearInterval(timer);
      }, LOOK);
    },
    /** Whether a click, or a key, was for this button. @param {Element} button @param {Event | undefined} event */
    isMeant(button, event) {
      if (!standing.has(button) || event?.type === "keydown") return true;
      const stand = standOf(button);
      const now = performance.now();
      if (now - stand.since >= SETTLED) return true;
      stand.since = now;
      return false;
    },
  });
})();

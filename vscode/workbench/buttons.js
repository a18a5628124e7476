// How Bulkhead's questions are answered: by a click or a key of a person's own on their buttons, which was meant for them alone.
// Where a person clicks again and again, an extension can have a question come, or come down, under the pointer; and commands
// press buttons without a person. Loaded before the workbench, after declarations.js; trusted.
(() => {
  "use strict";
  /** ms that a button has stood still, and nobody has clicked there, before it takes a click. */
  const SETTLED = 500;
  /** How often it is looked whether it does, in ms. */
  const LOOK = 100;
  /** After so many looks at a button that is in no page, it is looked at no more. */
  const GONE = 50;
  /** How many texts of dialogs are remembered. */
  const MAX_ASKED = 100;
  /** @type {WeakMap<Element, { place: string, since: number }>} */
  const standing = new WeakMap();
  /** Whether a person is answering at this moment. */
  let pressing = false;
  /** A finger that was lifted in this turn: of it VS Code makes a tap, which is an event of its own. @type {Event | undefined} */
  let touch;
  /** Texts of Bulkhead's dialogs. @type {Set<string>} */
  const asked = new Set();
  /** Where it is, and since when. @param {Element} button */
  const standOf = (button) => {
    const { x, y, width, height } = button.getBoundingClientRect();
    const place = `${x} ${y} ${width} ${height}`;
    const before = standing.get(button);
    const stand = before?.place === place ? before : { place, since: performance.now() };
    standing.set(button, stand);
    return stand;
  };
  /** Looks at it from now on. @param {Element} button */
  const watch = (button) => {
    if (standing.has(button)) return;
    standOf(button);
    let gone = 0;
    const timer = setInterval(() => {
      standOf(button);
      gone = button.isConnected ? 0 : gone + 1;
      if (gone > GONE) clearInterval(timer);
    }, LOOK);
  };
  /** Whether a person has done that: no script of a page, and no command. @param {Event | undefined} event */
  const isPersons = (event) => event !== undefined && (event.isTrusted || (touch !== undefined && event.type.startsWith("-monaco-gesture")));
  const isSettled = (/** @type {Element} */ button) => {
    const stand = standOf(button);
    const now = performance.now();
    if (now - stand.since >= SETTLED) return true;
    stand.since = now;
    return false;
  };
  Object.assign(globalThis.bulkhead, {
    /**
     * A button of a message.
     * @param {string | undefined} id whose message it is; none of the window's own
     * @param {Element} button
     */
    watchButton(id, button) {
      if (globalThis.bulkhead.isAskers(id)) watch(button);
    },
    /** Whether a click, or a key, was for this button. @param {Element} button @param {Event | undefined} event */
    isMeant: (button, event) => !standing.has(button) || (isPersons(event) && isSettled(button)),
    /**
     * A button was pressed.
     * @param {Element} button
     * @param {Event | undefined} event
     * @param {() => void} run what it does
     */
    press(button, event, run) {
      if (!globalThis.bulkhead.isMeant(button, event)) return;
      pressing = standing.has(button);
      try {
        run();
      } finally {
        pressing = false;
      }
    },
    /** Whether an answer is one. @param {string | undefined} id whose question it is */
    mayAnswer: (id) => pressing || !globalThis.bulkhead.isAskers(id),
    /** A dialog will ask this. @param {string | undefined} id whose it is @param {string} text */
    asksModally(id, text) {
      if (!globalThis.bulkhead.isAskers(id)) return;
      if (asked.size >= MAX_ASKED) asked.clear();
      asked.add(plain(text));
      let gone = 0;
      const timer = setInterval(() => {
        const buttons = document.querySelectorAll(`${DIALOG} .monaco-button`);
        for (const button of buttons) watch(button);
        gone = buttons.length > 0 ? 0 : gone + 1;
        if (gone > GONE) clearInterval(timer);
      }, LOOK);
    },
  });
  const plain = (/** @type {string | null | undefined} */ text) => String(text).replace(/\s+/g, "");
  const DIALOG = ".monaco-dialog-box";
  /** The button of a dialog of ours that an event is for. @param {Event} event */
  const inDialog = (event) => {
    if (asked.size === 0) return undefined;
    const button = event.target instanceof Element ? event.target.closest(`${DIALOG} .monaco-button`) : null;
    const text = button?.closest(DIALOG)?.querySelector(".dialog-message-text")?.textContent;
    return button && asked.has(plain(text)) ? button : undefined;
  };
  globalThis.addEventListener?.("touchend", (event) => {
    if (!event.isTrusted) return;
    touch = event;
    setTimeout(() => (touch = undefined), 0);
  }, true);
  for (const type of ["click", "keydown", "-monaco-gesturetap"])
    globalThis.addEventListener?.(type, (event) => {
      if (type === "keydown" && !["Enter", " "].includes(/** @type {KeyboardEvent} */ (event).key)) return;
      const button = inDialog(event);
      if (!button) return;
      watch(button);  // it may have come since the last look
      if (globalThis.bulkhead.isMeant(button, event)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    }, true);
})();

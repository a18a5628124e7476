// Runs in the page of review.js. Everything shown is written as text.
(() => {
  "use strict";
  // @ts-ignore: given by VS Code
  const host = acquireVsCodeApi();
  const list = /** @type {HTMLElement} */ (document.getElementById("list"));
  const none = /** @type {HTMLElement} */ (document.getElementById("none"));
  const said = /** @type {HTMLElement} */ (document.getElementById("said"));
  /** Buttons come alive once everything has stood still under the pointer for so long, in ms: a click that was meant for what stood there is lost. */
  const SETTLE = 600;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let settling;
  /** Something came, went or moved: a section, or what a key is for. */
  function settle() {
    const turn = (/** @type {string} */ off) => {
      for (const button of list.querySelectorAll("button")) button.setAttribute("aria-disabled", off);
    };
    turn("true");
    clearTimeout(settling);
    settling = setTimeout(() => turn("false"), SETTLE);
  }
  for (const type of ["resize", "focus"]) window.addEventListener(type, settle);
  // An extension can bring the focus back while a person writes elsewhere, and not every browser lets go of a button by then.
  window.addEventListener("blur", () => /** @type {HTMLElement | null} */ (document.activeElement)?.blur());
  /** Where the pointer last moved to in this page, and where the page stood on the screen by then. @type {number[]} */
  let pointed = [];
  const placeOf = (/** @type {MouseEvent} */ { clientX, clientY, screenX, screenY }) => [clientX, clientY, screenX - clientX, screenY - clientY];
  document.addEventListener("pointermove", (event) => void (pointed = placeOf(event)));
  document.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse") pointed = placeOf(event);
  });
  /** Pixels by which a hand trembles, and numbers are rounded. */
  const NEAR = 4;
  /**
   * Whether a person went to what they clicked. A page that an extension puts, or moves, under a pointer that stays where it is
   * hears of no movement. A click by a key has no place.
   * @param {MouseEvent} event
   */
  const isPointedAt = (event) => event.detail === 0 || (pointed.length > 0 && placeOf(event).every((one, i) => Math.abs(one - pointed[i]) <= NEAR));
  /** @type {Map<string, HTMLElement>} */
  const sections = new Map();

  /**
   * @param {string} tag
   * @param {string} [text]
   * @param {string} [style]
   */
  const element = (tag, text, style) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (style) made.className = style;
    return made;
  };

  /**
   * @param {HTMLElement} parent
   * @param {string} title
   * @param {string[]} sentences
   * @param {string} style
   * @param {string} mark
   */
  function group(parent, title, sentences, style, mark) {
    if (sentences.length === 0) return;
    const block = element("div", undefined, `group ${style}`);
    block.append(element("h3", title));
    const items = element("ul");
    for (const sentence of sentences) {
      const item = element("li");
      const sign = element("span", mark, "mark");
      sign.setAttribute("aria-hidden", "true");
      item.append(sign, element("span", sentence));
      items.append(item);
    }
    block.append(items);
    parent.append(block);
  }

  /** All of it, for who wants to know. */
  function details(review) {
    const block = element("details");
    block.append(element("summary", "Details"));
    group(block, "Usual, and worth knowing", review.unusual.filter((one) => !review.notable.includes(one)), "", "!");
    group(block, "It could", review.permits, "permits", "•");
    group(block, "It cannot", review.cannot, "cannot", "–");
    block.append(element("p", "These sentences are worked out from the rules that will be enforced, not from what the extension says of itself. What you allow holds for this version; an update asks again only for what it widens.", "hint"));
    return block;
  }

  function build(review) {
    const name = review.extensions.map((one) => one.name).join(", ");
    const section = element("section", undefined, "card");
    const title = element("h2", name);
    title.id = `review-${review.key}`;
    section.setAttribute("aria-labelledby", title.id);
    section.append(title);
    for (const one of review.extensions) section.append(element("p", `${one.id} ${one.version}`, "id"));
    section.append(element("p", `${review.extensions.length > 1 ? "This group" : "It"} ${review.reason}.`));
    if (review.extensions.length > 1) section.append(element("p", "They need each other and share one compartment: each can do what any of them may, and has what the others keep, their secrets too."));
    group(section, "New with this version", review.widened, "widened", "+");
    if (review.usual) section.append(element("p", review.usual));
    const rest = review.notable.filter((one) => !review.widened.includes(one));
    if (rest.length > 0) group(section, "Unusual", rest, "unusual", "!");
    else if (review.widened.length === 0) section.append(element("p", "Nothing unusual."));
    section.append(details(review));
    const buttons = element("div", undefined, "buttons");
    const made = [
      ["Allow", "approve", "primary", `Allow ${name} to run`],
      ["Don't Run", "reject", "secondary", `Do not run ${name}`],
    ].map(([text, type, style, label]) => {
      const button = /** @type {HTMLButtonElement} */ (element("button", text, style));
      button.setAttribute("aria-label", label);
      button.setAttribute("aria-disabled", "true");
      button.addEventListener("click", (event) => {
        if (button.getAttribute("aria-disabled") === "true" || !isPointedAt(event)) return;
        for (const one of made) one.setAttribute("aria-disabled", "true");
        said.textContent = type === "approve" ? `${name} is allowed.` : `${name} does not run.`;
        host.postMessage({ type, key: review.key });
      });
      buttons.append(button);
      return button;
    });
    section.append(buttons);
    return section;
  }

  window.addEventListener("message", (event) => {
    if (event.origin !== window.origin) return;  // every webview of the window can speak to this one
    if (event.data?.type !== "reviews") return;
    const wanted = new Map(event.data.list.map((review) => [JSON.stringify(review), review]));
    const before = sections.size;
    let gone = 0;
    for (const [key, section] of sections) {
      if (wanted.has(key)) continue;
      gone += 1;
      const held = section.contains(document.activeElement);
      section.remove();
      sections.delete(key);
      const next = /** @type {HTMLElement | null} */ (held ? list.querySelector("h2") : null);
      if (next) {
        next.tabIndex = -1;
        next.focus();
      }
    }
    // New ones go to the end. What stood below one that went has moved under the pointer.
    for (const [key, review] of wanted) {
      if (sections.has(key)) continue;
      const section = build(review);
      sections.set(key, section);
      list.append(section);
    }
    if (gone > 0 || sections.size > before - gone) settle();
    none.hidden = sections.size > 0;
  });
  host.postMessage({ type: "ready" });
})();

// Bulkhead's parts of the window as a person uses them who has only keys, and as a screen reader names them.
import { until } from "./editor.mjs";

export const PATIENCE = 30_000;
export const THEME = process.env.BULKHEAD_THEME ?? "Light 2026";

/** A button of ours takes a key after it has stood still: nobody reads a question in less. */
export const reads = () => new Promise((resolve) => setTimeout(resolve, 700));

/** Answers that stand behind "More…", in the dialog with all that is known of a question. */
const BEHIND = new Set(["Once", "This Session", "Never"]);

/**
 * Answers a question as a person does with the pointer.
 * @param {import("playwright-core").Page} page @param {import("playwright-core").Locator} toast @param {string} answer
 */
export async function give(page, toast, answer) {
  await toast.getByRole("button", { name: BEHIND.has(answer) ? "More…" : answer }).click({ delay: 50 });
  if (!BEHIND.has(answer)) return;
  const button = page.locator(".monaco-dialog-box").getByRole("button", { name: answer, exact: true });
  await button.waitFor({ timeout: PATIENCE });
  await new Promise((resolve) => setTimeout(resolve, 1000)); // it takes no click before it has stood still
  await button.click({ delay: 50 });
}

export class Keys {
  /** @param {import("./editor.mjs").Editor} editor */
  constructor(editor) {
    Object.assign(this, { editor, page: editor.page });
    this.page.setDefaultTimeout(PATIENCE);
  }

  press(key) {
    return this.page.keyboard.press(key);
  }

  status() {
    return this.page.locator(".part.statusbar .statusbar-item");
  }

  /** Bulkhead's own item there. */
  shield() {
    return this.status().filter({ has: this.page.locator(".codicon-shield") }).first();
  }

  says(text) {
    return this.status().filter({ hasText: text }).first().waitFor({ timeout: PATIENCE });
  }

  /** Notifications that are shown, each by itself or all in their list. */
  toasts(text) {
    return this.page.locator(":is(.notifications-toasts, .notifications-center.visible) .notification-list-item", { hasText: text });
  }

  get dialog() {
    return this.page.locator(".monaco-dialog-box");
  }

  /** The web page of ours that shows this. */
  frameWith(selector) {
    return until(`a page with ${selector}`, async () => {
      for (const frame of this.page.frames()) if (await frame.locator(selector).first().isVisible().catch(() => false)) return frame;
      return undefined;
    });
  }

  /** With BULKHEAD_SCREENSHOTS, a picture of what is to be looked at. */
  async picture(name) {
    if (!process.env.BULKHEAD_SCREENSHOTS) return;
    // What comes in fades in.
    await this.page.evaluate(() => Promise.all(document.getAnimations().filter((one) => one.effect?.getComputedTiming().iterations !== Infinity).map((one) => one.finished.catch(() => {}))));
    await this.editor.photograph(`${name} ${THEME}`);
  }

  /** What has the focus, for a screen reader. */
  focused() {
    return this.page.evaluate(() => {
      const element = document.activeElement;
      return `${element?.getAttribute("aria-label") ?? ""} ${element?.textContent ?? ""}`.trim();
    });
  }

  /** Goes on with one key until what has the focus has this name, and presses Enter there. */
  async enter(name, key = "Tab") {
    const met = [];
    for (let i = 0; i < 20; i += 1) {
      await this.press(key);
      const label = await this.focused();
      if (label === name || label === `${name} ${name}`) {
        await reads();
        return this.press("Enter");
      }
      met.push(label);
    }
    throw new Error(`${key} does not reach ${name}, but ${met.join(" | ")}`);
  }

  /** Presses a button of the newest notification. */
  async answer(question, button) {
    await this.toasts(question).first().waitFor({ timeout: PATIENCE });
    await this.editor.command("Notifications: Show Notifications");
    await this.page.locator(".notifications-center.visible").waitFor({ timeout: PATIENCE });
    await this.enter(BEHIND.has(button) ? "More…" : button);
    if (!BEHIND.has(button)) return;
    await this.dialog.waitFor({ timeout: PATIENCE });
    await this.enter(button);
  }

  /** Moves in the list of compartments to the row with this text, opening what lies above it. @returns the row */
  async row(text) {
    const { page } = this;
    await this.editor.command("Bulkhead: Show Compartments");
    const list = page.locator(".pane-body .monaco-list").filter({ visible: true }).first();
    await until("the focus on the list", () => list.evaluate((one) => one.contains(document.activeElement)));
    await this.press("Home");
    const row = list.locator(".monaco-list-row.focused");
    const met = [];
    let before;
    for (const end = Date.now() + PATIENCE; Date.now() < end; ) {
      await row.waitFor({ timeout: PATIENCE });
      const label = (await row.innerText()).trim();
      if (label.includes(text)) return row;
      met.push(label);
      // At the last one: what it looks for may have come above meanwhile.
      const here = await row.getAttribute("data-index");
      if (here === before) {
        before = undefined;
        await this.press("Home");
        continue;
      }
      before = here;
      if (!/^(Asker|Was refused|Your answers)/.test(label)) {
        await this.press("ArrowDown");
        continue;
      }
      // What it holds comes after it was opened; it moves down for what comes above it.
      if ((await row.getAttribute("aria-expanded")) === "false") await this.press("ArrowRight");
      await until(`what ${label} holds`, async () => {
        const [index, level] = await Promise.all(["data-index", "aria-level"].map(async (name) => Number(await row.getAttribute(name))));
        return (await list.locator(`.monaco-list-row[data-index="${index + 1}"][aria-level="${level + 1}"]`).count()) > 0;
      });
      await this.press("ArrowDown");
    }
    throw new Error(`no row ${text} among ${met.join(" | ")}`);
  }

  /** Runs an entry of the focused row's menu. */
  async menu(entry) {
    await this.press("Shift+F10");
    await this.page.locator(".monaco-menu").getByText(entry).waitFor({ timeout: PATIENCE });
    await until("the focus in the menu", () => this.page.evaluate(() => document.activeElement?.closest(".monaco-menu") != null));
    await this.enter(entry, "ArrowDown");
  }
}

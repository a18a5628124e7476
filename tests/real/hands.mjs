// What a person sees and does of an extension's work, beyond editor.mjs.
import { until } from "../vscode/editor.mjs";

const ACTIVE = ".editor-group-container.active";

/** Formats again and again: an extension that is not there yet is no formatter. @returns the text */
export async function formatUntil(editor, pattern) {
  for (const end = Date.now() + 60_000; Date.now() < end; ) {
    await editor.page.keyboard.press("Escape"); // a dialog says that there is none
    await editor.page.keyboard.press("Control+Shift+I");
    for (let i = 0; i < 10; i += 1) {
      const text = await editor.text();
      if (pattern.test(text)) return text;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  throw new Error(`formatting never gave ${pattern}`);
}

/** Waits for a wavy line, then reads what the list of problems says. @returns its messages, in order */
export async function problems(editor, pattern, wave = ".squiggly-error, .squiggly-warning, .squiggly-info") {
  await editor.page.locator(`${ACTIVE} :is(${wave})`).first().waitFor({ state: "attached", timeout: 60_000 });
  return listed(editor, pattern);
}

/** What the list of problems says, once it says what is waited for. */
export async function listed(editor, pattern) {
  await editor.page.keyboard.press("Control+Shift+M");
  const rows = editor.page.locator(".markers-panel .monaco-list-row");
  const read = async () => (await rows.allInnerTexts()).map((text) => text.replace(/\s+/g, " ").trim()).join("\n");
  await until(() => `a problem like ${pattern}`, async () => pattern.test(await read()), 60_000);
  return pattern.exec(await read())[0];
}

/** The labels that completion offers after something was typed. */
export async function completes(editor, typed, pattern) {
  const { page } = editor;
  await page.keyboard.press("Control+End");
  await page.keyboard.type(typed);
  const row = page.locator(".suggest-widget .monaco-list-row", { hasText: pattern }).first();
  // Asked anew often, for the seconds are counted; and more patiently each time, for who is slow never comes to an answer.
  let patience = 200;
  for (const end = Date.now() + 60_000; Date.now() < end; patience = Math.min(1000, patience * 1.2)) {
    if (!(await row.isVisible())) await page.keyboard.press("Control+Space");
    if (await row.waitFor({ timeout: patience }).then(() => true, () => false)) return pattern.exec(await row.innerText())[0];
    await page.keyboard.press("Escape");
  }
  throw new Error(`completion never offered ${pattern}`);
}

/** The texts that decorations write behind lines (content of ::before and ::after). */
export const written = (page) => page.evaluate(() =>
  [...document.querySelectorAll(".view-lines [class*=ced-]")].flatMap((element) =>
    ["::before", "::after"].map((part) => getComputedStyle(element, part).content).filter((text) => text !== "none" && text !== "normal" && text !== '""')));

/** The colours of decorations below the text. */
export const painted = (page) => page.evaluate(() =>
  [...new Set([...document.querySelectorAll(".view-overlays [class*=ced-], .view-lines [class*=ced-]")].map((element) => getComputedStyle(element).backgroundColor).filter((color) => color !== "rgba(0, 0, 0, 0)"))].sort());

/** Waits for a page of an extension that shows this. @returns what it shows */
export async function untilPage(page, pattern) {
  let text = "";
  await until(() => `a page with ${pattern}, not ${JSON.stringify(text.slice(0, 100))}`, async () => {
    for (const frame of page.frames()) {
      text = await frame.evaluate(() => document.body?.innerText ?? "").catch(() => "");
      if (frame !== page.mainFrame() && pattern.test(text)) return true;
    }
    return false;
  }, 60_000);
  return pattern.exec(text)[0];
}

/** Waits for a row in the side bar. */
export async function untilRow(page, pattern) {
  const row = page.locator(".sidebar .monaco-list-row", { hasText: pattern }).first();
  await row.waitFor({ timeout: 60_000 });
  return (await row.innerText()).trim();
}

/** Waits for an item of the status bar. @returns its text */
export async function untilStatus(page, pattern) {
  const item = page.locator(".part.statusbar .statusbar-item", { hasText: pattern }).first();
  await item.waitFor({ timeout: 60_000 });
  return (await item.innerText()).trim();
}

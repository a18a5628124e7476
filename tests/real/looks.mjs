// Extensions that change how things look.
import { until } from "../vscode/editor.mjs";
import { painted, untilStatus } from "./hands.mjs";

const icon = (page, file) => page.evaluate((name) => {
  const row = [...document.querySelectorAll(".explorer-folders-view .monaco-list-row")].find((one) => one.textContent.includes(name));
  const parts = [...(row?.querySelectorAll(".monaco-icon-label, .monaco-icon-label *") ?? [])];
  return parts.flatMap((part) => ["", "::before"].map((which) => getComputedStyle(part, which || undefined))).map(({ backgroundImage, content }) => `${backgroundImage} ${content}`).join(" ");
}, file);

export const jobs = [
  {
    name: "indent-rainbow",
    extensions: ["oderwat.indent-rainbow"],
    job: "paints the indentation",
    files: { "projects/app/nested.js": "if (1) {\n  if (2) {\n    if (3) {\n      f();\n    }\n  }\n}\n" },
    async drive({ editor, page }) {
      await editor.openFile("nested.js");
      let colors = [];
      await until("colours", async () => (colors = await painted(page)).length >= 3, 60_000);
      return colors.join(" ");
    },
    expected: /^rgba.*rgba/,
  },
  {
    name: "Rainbow CSV",
    extensions: ["mechatroner.rainbow-csv"],
    job: "aligns the columns of a table",
    files: { "projects/app/table.csv": "one,two\nlonger,x\n" },
    async drive({ editor, page }) {
      await editor.openFile("table.csv");
      await untilStatus(page, /Align/);
      await editor.statusItem("Align").click();
      await until("columns", async () => /^one *, *two/.test(await editor.text()) && !/^one,two/.test(await editor.text()), 30_000);
      return editor.text();
    },
    expected: /^one {3,4}, ?two/,
  },
  {
    name: "Dracula",
    extensions: ["dracula-theme.theme-dracula"],
    job: "gives the window its colours",
    settings: { "workbench.colorTheme": "Dracula Theme" },
    async drive({ editor, page }) {
      await editor.openFile("first.js");
      const color = () => page.locator(".editor-group-container.active .monaco-editor-background").first().evaluate((one) => getComputedStyle(one).backgroundColor);
      await until("the theme", async () => (await color()) === "rgb(40, 42, 54)", 60_000);
      return color();
    },
    expected: /40, 42, 54/,
  },
  {
    name: "vscode-icons",
    extensions: ["vscode-icons-team.vscode-icons"],
    job: "gives files their icons",
    settings: { "workbench.iconTheme": "vscode-icons", "vsicons.dontShowNewVersionMessage": true },
    async drive({ page }) {
      let image = "";
      await until(() => `an icon, not ${image.slice(0, 300)}`, async () => (image = await icon(page, "first.js")).match(/file_type_(?:light_)?js/), 60_000);
      return /file_type_(?:light_)?js[^"&]*/.exec(image)[0];
    },
    expected: /file_type_(?:light_)?js/,
  },
];

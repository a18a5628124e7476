// Extensions with views, pages and servers.
import http from "node:http";
import path from "node:path";
import { server, until } from "../vscode/editor.mjs";
import { untilPage, untilRow, untilStatus } from "./hands.mjs";

const get = (address) => new Promise((resolve) => {
  http.get(address, (answer) => {
    let text = "";
    answer.on("data", (part) => (text += part)).on("end", () => resolve(text));
  }).on("error", () => resolve(""));
});

export const jobs = [
  {
    name: "Hex Editor",
    extensions: ["ms-vscode.hexeditor"],
    job: "shows the bytes of a file",
    files: { "projects/app/bytes.bin": Buffer.from([0xca, 0xfe, 0x00, 0x01]) },
    settings: { "workbench.editorAssociations": { "*.bin": "hexEditor.hexedit" } },
    async drive({ page }) {
      await page.locator(".explorer-folders-view .monaco-list-row", { hasText: "bytes.bin" }).first().dblclick();
      return (await untilPage(page, /CA\s*FE\s*00\s*01/i)).replace(/\s+/g, " ");
    },
    expected: /CA FE 00 01/i,
  },
  {
    name: "Todo Tree",
    extensions: ["gruntfuggly.todo-tree"],
    job: "lists the notes of the workspace in its view",
    files: { "projects/app/noted.js": "// TODO mend this\nconst x = 1;\n" },
    // It looks for the editor's own where older versions of VS Code had it.
    settings: { "todo-tree.tree.expanded": true, "todo-tree.ripgrep.ripgrep": path.join(server, "node_modules/@vscode/ripgrep-universal/bin/linux-x64/rg") },
    async drive({ page }) {
      await page.locator(".activitybar .action-label[aria-label^='TODOs']").click({ timeout: 60_000 });
      return untilRow(page, /mend this/);
    },
    expected: /mend this/,
  },
  {
    name: "GitLens",
    extensions: ["eamodio.gitlens"],
    job: "says who wrote the line",
    async drive({ editor, page }) {
      await editor.openFile("style.css");
      return (await untilStatus(page, /(?:Nobody|You),/)).replace(/,.*/, "");
    },
    expected: /^(?:Nobody|You)$/,
  },
  {
    name: "Live Server",
    extensions: ["ritwickdey.liveserver"],
    job: "serves the workspace on this machine",
    needs: "the network",
    settings: { "liveServer.settings.NoBrowser": true, "liveServer.settings.donotShowInfoMsg": true, "liveServer.settings.donotVerifyTags": true },
    async drive({ editor, page }) {
      await untilStatus(page, /Go Live/);
      await editor.statusItem("Go Live").click();
      await until("the page", async () => (await get("http://127.0.0.1:5500/page.html")).includes("<p>text</p>"), 30_000);
      return "<p>text</p>";
    },
    expected: /text/,
  },
  {
    name: "REST Client",
    extensions: ["humao.rest-client"],
    job: "sends a request and shows the answer",
    needs: "the network",
    async drive({ editor, world, page }) {
      world.write("home/projects/app/one.http", `GET http://127.0.0.1:${world.collector.port}/\n`);
      await editor.openFile("one.http");
      await page.locator(".codelens-decoration a", { hasText: "Send Request" }).first().waitFor({ timeout: 60_000 });
      await page.locator(".codelens-decoration a", { hasText: "Send Request" }).first().click();
      return untilPage(page, /HTTP\/1\.1 200 OK/);
    },
    expected: /200 OK/,
  },
];

// Extensions that rewrite documents.
import { until } from "../vscode/editor.mjs";
import { formatUntil, untilStatus } from "./hands.mjs";

export const jobs = [
  {
    name: "Prettier",
    extensions: ["esbenp.prettier-vscode"],
    job: "formats as the .prettierrc of the folder above says",
    settings: { "[javascript]": { "editor.defaultFormatter": "esbenp.prettier-vscode" } },
    async drive({ editor }) {
      await editor.openFile("first.js");
      return formatUntil(editor, /const first = 1/);
    },
    expected: /^const first = 1\n?$/,
  },
  {
    name: "Prettier, its own fixtures",
    extensions: ["esbenp.prettier-vscode"],
    project: "prettier-fixtures",
    job: "formats in its own test workspace",
    settings: { "editor.defaultFormatter": "esbenp.prettier-vscode" },
    async drive({ editor }) {
      await editor.openFile("ugly.js");
      return formatUntil(editor, /return a \+ b;/);
    },
    expected: /^function ugly\(a, b, c\) \{\n +return a \+ b;\n\}/,
  },
  {
    name: "Biome",
    extensions: ["biomejs.biome"],
    project: "biome",
    job: "formats by the server of the workspace's node_modules",
    files: {
      "projects/app/biome.json": '{ "formatter": { "indentStyle": "space", "indentWidth": 5 } }\n',
      "projects/app/deep.js": "function deep( ) {\nreturn 'a' }\n",
    },
    settings: { "[javascript]": { "editor.defaultFormatter": "biomejs.biome" } },
    async drive({ editor }) {
      await editor.openFile("deep.js");
      return formatUntil(editor, / {5}return "a";/);
    },
    expected: /^function deep\(\) \{\n {5}return "a";\n\}/,
  },
  {
    name: "EditorConfig",
    extensions: ["editorconfig.editorconfig"],
    job: "applies the .editorconfig of the folder above",
    files: { "projects/.editorconfig": "root = true\n[*]\nindent_style = space\nindent_size = 7\ntrim_trailing_whitespace = true\n", "projects/app/trailing.txt": "one   \ntwo\n" },
    async drive({ editor, world }) {
      await editor.openFile("trailing.txt");
      const indent = await untilStatus(editor.page, /Spaces: 7/);
      await editor.page.keyboard.type("x");
      await editor.save();
      // A save empties the file first.
      await until("what was saved", () => /x.*two/s.test(world.read("home/projects/app/trailing.txt")));
      return `${indent} ${world.read("home/projects/app/trailing.txt")}`;
    },
    expected: /^Spaces: 7 xone\ntwo\n$/,
  },
];

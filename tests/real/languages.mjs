// Extensions with a language server of their own.
import { completes, problems } from "./hands.mjs";

const typeError = /Type '?"?string"?'? is not assignable to type '?"?number"?'?|not assignable to declared type "int"/;

export const jobs = [
  {
    name: "YAML",
    extensions: ["redhat.vscode-yaml"],
    job: "finds a problem",
    files: { "projects/app/twice.yaml": "one: 1\none: 2\n" },
    async drive({ editor }) {
      await editor.openFile("twice.yaml");
      return problems(editor, /Map keys must be unique/);
    },
    expected: /unique/,
  },
  {
    name: "clangd",
    extensions: ["llvm-vs-code-extensions.vscode-clangd"],
    job: "finds a problem by Debian's clangd",
    files: { "projects/app/main.cc": '#include <string>\nint main() { std::string text = 1.5; return text; }\n' },
    async drive({ editor }) {
      await editor.openFile("main.cc");
      return problems(editor, /[Nn]o viable conversion[^\n]*/);
    },
    expected: /conversion/,
  },
  {
    name: "Pyright",
    extensions: ["ms-pyright.pyright"],
    job: "finds a problem in Python",
    files: { "projects/app/typed.py": "import json\n\nnumber: int = json.dumps({})\n" },
    async drive({ editor }) {
      await editor.openFile("typed.py");
      return problems(editor, /is not assignable to[^\n]*/);
    },
    expected: /assignable/,
  },
  {
    name: "Tailwind CSS",
    extensions: ["bradlc.vscode-tailwindcss"],
    project: "tailwindcss",
    job: "finds two classes that contradict each other",
    files: { "projects/app/main.css": '@import "tailwindcss";\n', "projects/app/classes.html": '<div class="p-2 p-4">text</div>\n' },
    async drive({ editor }) {
      await editor.openFile("classes.html");
      return problems(editor, /'p-2' applies the same CSS properties as 'p-4'/);
    },
    expected: /p-4/,
  },
  {
    name: "Svelte",
    extensions: ["svelte.svelte-vscode"],
    project: "svelte",
    job: "finds an error of types",
    files: { "projects/app/One.svelte": '<script lang="ts">\n  const count: number = "x";\n</script>\n<p>{count}</p>\n' },
    async drive({ editor }) {
      await editor.openFile("One.svelte");
      return problems(editor, typeError);
    },
    expected: typeError,
  },
  {
    name: "Vue",
    extensions: ["vue.volar"],
    project: "vue",
    job: "finds an error of types",
    files: {
      "projects/app/tsconfig.json": '{ "compilerOptions": { "strict": true, "module": "esnext", "moduleResolution": "bundler" }, "include": ["*.vue"] }\n',
      "projects/app/One.vue": '<script setup lang="ts">\nconst count: number = "x";\n</script>\n<template><p>{{ count }}</p></template>\n',
    },
    async drive({ editor }) {
      await editor.openFile("One.vue");
      return problems(editor, typeError);
    },
    expected: typeError,
  },
  {
    name: "Astro",
    extensions: ["astro-build.astro-vscode"],
    job: "finds an error of types",
    files: { "projects/app/astro.config.mjs": "export default {};\n", "projects/app/page.astro": '---\nconst title: number = "x";\n---\n<h1>{title}</h1>\n' },
    async drive({ editor }) {
      await editor.openFile("page.astro");
      return problems(editor, typeError);
    },
    expected: typeError,
  },
  {
    name: "Containers",
    extensions: ["ms-azuretools.vscode-containers"],
    job: "finds a problem in a Dockerfile",
    files: { "projects/app/Dockerfile": "FROM scratch\nEXPOSE abc\n" },
    async drive({ editor }) {
      await editor.openFile("Dockerfile");
      return problems(editor, /[Ii]nvalid containerPort[^\n]*/);
    },
    expected: /containerPort/,
  },
  {
    name: "GraphQL",
    extensions: ["graphql.vscode-graphql", "graphql.vscode-graphql-syntax"],
    project: "graphql",
    job: "finds a field that the schema lacks",
    files: {
      "projects/app/graphql.config.json": '{ "schema": "schema.graphql", "documents": "query.graphql" }\n',
      "projects/app/schema.graphql": "type Query { name: String }\n",
      "projects/app/query.graphql": "query { nothing }\n",
    },
    async drive({ editor }) {
      await editor.openFile("query.graphql");
      return problems(editor, /Cannot query field[^\n]*/);
    },
    expected: /nothing/,
  },
  {
    name: "Path Intellisense",
    extensions: ["christian-kohler.path-intellisense"],
    job: "completes the name of a file",
    files: { "projects/app/paths.txt": "\n" },
    async drive({ editor }) {
      await editor.openFile("paths.txt");
      return completes(editor, '"./', /first\.js/);
    },
    expected: /first\.js/,
  },
];

// Edits of built-in extensions: what lets a stranger's document steer them. Some run with the user's rights outside of
// compartments, and the others may do what a stranger's extension may not. Anchored and refused as the workbench's own edits are.
import fs from "node:fs";
import path from "node:path";
import { apply, count, shape } from "./shapes.mjs";

/** @typedef {import("./shapes.mjs").Edit} Edit */

/**
 * A function of an address that a document names, for a file below one of `tops`: gives it without links, and throws where it
 * lies elsewhere. What such a server finds goes to whoever asks about a document that it may write.
 * @param {string} vscode
 * @param {string} [tops] addresses of folders beside the workspace's
 * @param {string} [others] a condition on `uri`, which has no ".."
 */
const inside = (vscode, tops = "[]", others = "!1") =>
  `(async asked=>{const uri=${vscode}.Uri.joinPath(asked,"."),` +
  `below=(path,top)=>path===top||path.startsWith(top.endsWith("/")?top:top+"/"),real=one=>require("fs").promises.realpath(one.fsPath);` +
  `if(${others})return uri;` +
  `const top=[...(${vscode}.workspace.workspaceFolders??[]).map(one=>one.uri),...${tops}].find(one=>one.scheme===uri.scheme&&one.authority===uri.authority&&below(uri.path,one.path));` +
  `if(top&&uri.scheme!=="file")return uri;` +
  `if(top){const path=await real(uri);if(below(path,await real(top)))return uri.with({path})}` +
  `throw new Error("it is no file of the workspace")})`;

/** Requests of a language server for what a document names. @type {Edit[]} */
const NAMED = [
  {
    name: "named-asks",
    what: "the server asks its client for what is in a folder, which documents name",
    times: 1,
    shape: shape(String.raw`handledSchemas:\["file"\]`),
    text: () => "handledSchemas:[]",
  },
  {
    name: "named-outside",
    // Completions of paths are the names in any folder.
    what: "a folder that a document names is one of the workspace",
    times: 2,
    shape: shape(
      String.raw`NAME=>\{let NAME=NAME\.Uri\.parse\(\1\);return \2\.scheme==="file"&&NAME\.(fs|fileFs)\?\4\.\5\.(readDirectory|stat)\(\1\):\3\.workspace\.fs\.\6\(\2\)\}`,
    ),
    text: (asked, uri, vscode, services, files, read) =>
      `async ${asked}=>{let ${uri}=await${inside(vscode)}(${vscode}.Uri.parse(${asked}));` +
      `return ${uri}.scheme==="file"&&${services}.${files}?${services}.${files}.${read}(${uri}.toString()):${vscode}.workspace.fs.${read}(${uri})}`,
  },
];

/** @type {{ extension: string, file: string, edits: Edit[] }[]} */
const BUILTINS = [
  {
    extension: "json-language-features",
    file: "client/dist/node/jsonClientMain.js",
    edits: [
      {
        name: "json-loopback",
        // Any extension can open a document that names a schema: a request to a server on this machine, without a
        // network grant. A person can still add such a server to json.schemaDownload.trustedDomains.
        what: "schemas on this machine's own addresses are trusted no more than others",
        times: 1,
        shape: shape(
          String.raw`(NAME=/\^\(\.\+\\\.\)\?localhost\(:\\d\+\)\?\$/i,[^;]{0,120};)function NAME\(NAME\)\{return NAME\.test\(\4\)\|\|NAME\.test\(\4\)\|\|NAME\.test\(\4\)\}`,
        ),
        text: (patterns, _first, isLocal, authority) => `${patterns}function ${isLocal}(${authority}){return!1}`,
      },
      {
        name: "json-files",
        what: "the JSON server asks its client for schemas that are files",
        times: 1,
        shape: shape(String.raw`handledSchemaProtocols:\["file"\]`),
        text: () => "handledSchemaProtocols:[]",
      },
      {
        name: "json-outside",
        // Completions, hovers and problems tell what stands in a schema ("default", "enum", also of a part of a file: "$ref"),
        // and go to whoever asks about a document that it may write.
        what: "a schema is a file of the workspace or of an extension, or one that the user's settings name",
        times: 1,
        shape: shape(
          String.raw`NAME\.onRequest\(NAME\.type,async NAME=>\{let NAME=NAME\.Uri\.parse\(\3\),NAME=\4\.toString\(!0\);if\(\4\.scheme==="untitled"\)throw new NAME\.ResponseError`,
        ),
        text: (client, request, asked, uri, vscode, shown, protocol) =>
          `${client}.onRequest(${request}.type,async ${asked}=>{let ${uri}=${vscode}.Uri.parse(${asked}),${shown}=${uri}.toString(!0);` +
          `if(!["http","https","vscode","untitled"].includes(${uri}.scheme)){` +
          // "..": below neither, by name.
          `${uri}=${vscode}.Uri.joinPath(${uri},".");const place=${uri}.toString();` +
          `if(!${vscode}.workspace.getWorkspaceFolder(${uri})` +
          `&&!${vscode}.extensions.allAcrossExtensionHosts.some(one=>place.startsWith(one.extensionUri.toString()+"/"))` +
          `&&![].concat(${vscode}.workspace.getConfiguration("json").inspect("schemas")?.globalValue??[]).some(one=>typeof one?.url=="string"&&${vscode}.Uri.parse(one.url).toString()===place))` +
          `throw new ${protocol}.ResponseError(7,"it is no file of the workspace, and no user setting (json.schemas) names it");` +
          `if(${uri}.scheme==="file")return new TextDecoder().decode(await ${vscode}.workspace.fs.readFile(${uri}))}` +
          `if(${uri}.scheme==="untitled")throw new ${protocol}.ResponseError`,
      },
    ],
  },
  {
    extension: "npm",
    file: "dist/npmMain.js",
    edits: [
      {
        name: "npm-registry",
        // It asks npm about each dependency that a hover or a completion names. In the folder of that package.json a
        // file .npmrc says whom npm asks: whoever can write both would have it tell anything to any server.
        what: "npm is asked about packages with the settings of the user, not with those of the package's folder",
        times: 1,
        shape: shape(
          String.raw`async runNpmCommand\(NAME,NAME,NAME\)\{let NAME=await import\("child_process"\);return new Promise\(\(NAME,NAME\)=>\{let NAME=\3&&\3\.scheme==="file"\?\(0,NAME\.dirname\)\(\3\.fsPath\):void 0,`,
        ),
        text: (npm, words, file, program, done, failed, folder) =>
          `async runNpmCommand(${npm},${words},${file}){let ${program}=await import("child_process");` +
          `return new Promise((${done},${failed})=>{let ${folder}=process.env.HOME??"/",`,
      },
      {
        name: "npm-hover",
        // What a text may run that is trusted as a whole starts nothing (links.mjs).
        what: "the hover of a script runs scripts, and nothing else",
        times: 1,
        shape: shape(String.raw`NAME\.isTrusted=!0,(\1\.appendMarkdown\(this\.createRunScriptMarkdown\()`),
        text: (hover, shown) => `${hover}.isTrusted={enabledCommands:["npm.runScriptFromHover","npm.debugScriptFromHover"]},${shown}`,
      },
    ],
  },
  {
    extension: "git",
    file: "dist/main.js",
    edits: [
      {
        name: "git-hover",
        // In it stands the message of a commit, which is Markdown of whoever wrote that.
        what: "the hover of a commit runs its own links, and nothing that the commit's message names",
        times: 1,
        shape: shape(String.raw`return NAME\.isTrusted=\{enabledCommands:NAME\?\.flat\(\)\.map\(NAME=>\3\.command\)\?\?\[\]\},`),
        text: (hover, commands) =>
          `return ${hover}.isTrusted={enabledCommands:${commands}?.flat().map(one=>({command:one.command,arguments:JSON.stringify(one.arguments)}))??[]},`,
      },
    ],
  },
  { extension: "html-language-features", file: "client/dist/node/htmlClientMain.js", edits: NAMED },
  {
    extension: "terminal-suggest",
    file: "dist/terminalSuggestMain.js",
    edits: [
      {
        name: "suggest-programs",
        // It acts on a person's terminals, so it is in no compartment. "git branch", "npm run", … obey the folder in which they run.
        what: "what a terminal's completions would have run in its folder does not run",
        times: 1,
        shape: shape(String.raw`(async function NAME\(NAME,NAME,NAME\)\{return new Promise\(\(NAME,)NAME(\)=>\{)(let NAME=\[\],NAME=\[\],NAME=\(0,NAME\.spawn\)\()`),
        text: (before, ...names) => `${before}${names[5]}${names[6]}${names[5]}(new Error("bulkhead: completions start no program"));return;${names[7]}`,
      },
      {
        name: "suggest-shell",
        what: "nor does what they would have a shell run there",
        times: 1,
        shape: shape(String.raw`(async\(\{command:NAME,executable:NAME\}\)=>new Promise\(\(NAME,)NAME(\)=>\{)(\(0,NAME\.exec\)\()`),
        text: (before, ...names) => `${before}${names[3]}${names[4]}${names[3]}(new Error("bulkhead: completions start no program"));return;${names[5]}`,
      },
    ],
  },
  {
    extension: "css-language-features",
    file: "client/dist/node/cssClientMain.js",
    edits: [
      ...NAMED,
      {
        name: "named-content",
        what: "a file that a style sheet has read is one of the workspace or of an extension, or one that the user's settings name",
        times: 1,
        shape: shape(String.raw`NAME=>\{let NAME=NAME\.Uri\.parse\(\1\.uri\);return \2\.scheme==="file"&&NAME\.fs\?\4\.fs\.getContent\(\1\.uri\):`),
        text: (asked, uri, vscode, services) =>
          `async ${asked}=>{let ${uri}=await${inside(
            vscode,
            `${vscode}.extensions.all.map(one=>one.extensionUri)`,
            `[].concat(${vscode}.workspace.getConfiguration("css").inspect("customData")?.globalValue??[]).some(one=>typeof one=="string"&&require("path").posix.resolve(${vscode}.workspace.workspaceFolders?.[0].uri.path??"/",one)===uri.path)`,
          )}(${vscode}.Uri.parse(${asked}.uri));` +
          `return ${uri}.scheme==="file"&&${services}.fs?${services}.fs.getContent(${uri}.toString()):`,
      },
    ],
  },
  {
    extension: "markdown-language-features",
    file: "dist/extension.js",
    edits: [
      {
        name: "markdown-outside",
        // Completions of paths are the names in any folder, and those behind "#" the headings of any file.
        what: "a file or folder that a link names is one of the workspace",
        times: 3,
        shape: shape(
          String.raw`async NAME=>\{let NAME=NAME\.Uri\.parse\(\1\.uri\);(try\{return\{isDirectory:\(|return Array\.from\(|return\()await \3\.workspace\.fs\.(stat|readFile|readDirectory)\(\2\)`,
        ),
        text: (asked, uri, vscode, begin, read) =>
          `async ${asked}=>{let ${uri}=${vscode}.Uri.parse(${asked}.uri);${begin}await ${vscode}.workspace.fs.${read}(await${inside(vscode)}(${uri}))`,
      },
    ],
  },
];

const read = (/** @type {string} */ server, /** @type {{ extension: string, file: string }} */ { extension, file }) => {
  const name = path.join(server, "extensions", extension, file);
  return fs.existsSync(name) ? fs.readFileSync(name, "utf8") : "";
};

/**
 * How often each edit's shape occurs.
 * @param {string} server code-server's lib/vscode
 */
export const inspectBuiltins = (server) => BUILTINS.flatMap((one) => count(read(server, one), one.edits));

/**
 * The edited files. Throws EditError where an edit does not fit.
 * @param {string} server code-server's lib/vscode
 * @returns {Map<string, Map<string, string>>} folder of the extension → path in it → text
 */
export function editBuiltins(server) {
  /** @type {Map<string, Map<string, string>>} */
  const edited = new Map();
  for (const one of BUILTINS) {
    const files = edited.get(one.extension) ?? new Map();
    edited.set(one.extension, files.set(one.file, apply(read(server, one), one.edits)));
  }
  return edited;
}

// The page's scripts are joined into one, so each file sees what the others declare; nothing is imported or exported.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const KIT = "src/weatherglass/report/kit";
const PAGES = ["page", "study", "ranking"].map((name) => `src/weatherglass/report/${name}/templates`).concat("src/weatherglass/explore/templates");
const DECLARED = /^(?:async )?(?:function|const|let) (\w+)/gm;

const scriptsOf = (folder) => readdirSync(join(import.meta.dirname, folder)).filter((name) => name.endsWith(".js")).map((name) => `${folder}/${name}`);
const declaredIn = (path) => Array.from(readFileSync(join(import.meta.dirname, path), "utf-8").matchAll(DECLARED), (match) => match[1]);

// What the page may use of the browser: a new name here is a decision, not an accident.
const browser = [
  "AbortController", "addEventListener", "atob", "Blob", "btoa", "clearTimeout", "DecompressionStream", "document", "fetch", "FormData", "getComputedStyle", "getSelection",
  "history", "Image",
  "IntersectionObserver", "location", "navigator", "Response", "setTimeout", "URL", "window", "XMLSerializer",
];

const rules = {
  "array-callback-return": "error",
  curly: ["error", "multi-line"],
  eqeqeq: "error",
  "no-const-assign": "error",
  "no-dupe-args": "error",
  "no-dupe-else-if": "error",
  "no-dupe-keys": "error",
  "no-eval": "error",
  "no-fallthrough": "error",
  "no-implied-eval": "error",
  "no-loop-func": "error",
  "no-new-func": "error",
  "no-redeclare": "error",
  "no-self-assign": "error",
  "no-self-compare": "error",
  "no-undef": "error",
  "no-unreachable": "error",
  "no-unsafe-optional-chaining": "error",
  "no-unused-expressions": "error",
  "no-unused-vars": ["error", { varsIgnorePattern: "." }],
  "no-use-before-define": ["error", { functions: false, variables: false }],
  "no-useless-assignment": "error",
  "no-var": "error",
  "object-shorthand": "error",
  "prefer-const": "error",
  "prefer-template": "error",
};

function configured(path, others) {
  const globals = Object.fromEntries([
    ...browser.map((global) => [global, "readonly"]),
    ...others.flatMap(declaredIn).map((global) => [global, "writable"]),
  ]);
  return { files: [path], languageOptions: { ecmaVersion: 2023, sourceType: "module", globals }, rules };
}

export default [
  ...scriptsOf(KIT).map((path) => configured(path, [])),
  ...PAGES.flatMap((folder) => {
    const together = [...scriptsOf(KIT), ...scriptsOf(folder)];
    return scriptsOf(folder).map((path) => configured(path, together.filter((other) => other !== path)));
  }),
];

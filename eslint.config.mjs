// The page's scripts are joined into one, so each file sees what the others declare; nothing is imported or exported.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const PAGE = "src/weatherglass/report/page/templates";
const DECLARED = /^(?:async )?(?:function|const|let) (\w+)/gm;

const scripts = readdirSync(join(import.meta.dirname, PAGE)).filter((name) => name.endsWith(".js"));
const declared = new Map(scripts.map((name) => {
  const source = readFileSync(join(import.meta.dirname, PAGE, name), "utf-8");
  return [name, Array.from(source.matchAll(DECLARED), (match) => match[1])];
}));

// What the page may use of the browser: a new name here is a decision, not an accident.
const browser = [
  "atob", "Blob", "clearTimeout", "DecompressionStream", "document", "FormData", "getSelection", "history",
  "IntersectionObserver", "location", "navigator", "Response", "setTimeout", "window",
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
  "no-unused-vars": ["error", { vars: "local" }],
  "no-use-before-define": ["error", { functions: false, variables: false }],
  "no-useless-assignment": "error",
  "no-var": "error",
  "object-shorthand": "error",
  "prefer-const": "error",
  "prefer-template": "error",
};

export default scripts.map((name) => {
  const others = scripts.filter((other) => other !== name).flatMap((other) => declared.get(other));
  const globals = Object.fromEntries([
    ...browser.map((global) => [global, "readonly"]),
    ...others.map((global) => [global, "writable"]),
  ]);
  return { files: [`${PAGE}/${name}`], languageOptions: { ecmaVersion: 2023, sourceType: "script", globals }, rules };
});

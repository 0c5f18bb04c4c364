// Makes the page of films and of live runs: one HTML file with the program compressed in it, and a
// mark where the data of a film goes. Run by make.sh: node build.mjs OUT.html
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const out = process.argv[2];
const source = join(dirname(fileURLToPath(import.meta.url)), "src");
const modules = join(dirname(out), "node_modules");
const { buildSync } = createRequire(join(modules, "x"))("esbuild");
const bundle = buildSync({
  entryPoints: [join(source, "main.ts")],
  bundle: true,
  minify: true,
  write: false,
  format: "iife",
  target: ["es2022"],
  legalComments: "none",
  nodePaths: [modules],
  logLevel: "warning",
});
// A license text stays with what it covers: these are of the packages in the program.
const notice = "three.js: Copyright 2010-2026 three.js authors, MIT. uPlot: Copyright 2022 Leon Sorokin, MIT.";
const program = gzipSync(bundle.outputFiles[0].contents, { level: 9 }).toString("base64");
const style = readFileSync(join(modules, "uplot/dist/uPlot.min.css"), "utf8")
  + readFileSync(join(source, "style.css"), "utf8");
const page = readFileSync(join(source, "page.html"), "utf8")
  .replace("@NOTICE@", () => notice)
  .replace("@STYLE@", () => style)
  .replace("@CODE@", () => program);
writeFileSync(`${out}.new`, page);
renameSync(`${out}.new`, out);

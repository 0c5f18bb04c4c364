// Makes the page of films and of live runs: one HTML file with the program compressed in it, and a
// mark where the data of a film goes. Run by make.sh: build.mjs SOURCES OUT.html
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { buildSync } from "esbuild";

const [source, out] = process.argv.slice(2);
const modules = join(dirname(out), "node_modules");
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
// A license text stays with what it covers: these are of the packages in the program, for the page
// itself, and beside it for whoever passes it on.
const notice = [["three.js", "three"], ["uPlot", "uplot"]].map(([name, folder]) =>
  `${name}\n\n${readFileSync(join(modules, folder, "LICENSE"), "utf8").trim()}\n`).join("\n");
if (/--|>/.test(notice)) throw new Error("a license text would end the comment that it is in");
writeFileSync(join(dirname(out), "licenses.txt"), notice);
const program = gzipSync(bundle.outputFiles[0].contents, { level: 9 }).toString("base64");
const style = readFileSync(join(modules, "uplot/dist/uPlot.min.css"), "utf8")
  + ["colors.css", "style.css"].map((name) => readFileSync(join(source, name), "utf8")).join("");
const page = readFileSync(join(source, "page.html"), "utf8")
  .replace("@NOTICE@", () => notice)
  .replace("@STYLE@", () => style)
  .replace("@CODE@", () => program);
writeFileSync(`${out}.new`, page);
renameSync(`${out}.new`, out);

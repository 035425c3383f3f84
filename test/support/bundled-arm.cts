// Loaded with --require by the process of an arm: runs the bundled module in place of the compiled one. Hooks of `node:module`
// could do it too, but they start a thread in each process, which takes 0.1 s of CPU.
import path = require('node:path');
import Module = require('node:module');

const DIST = path.resolve(__dirname, '../..');
const COMPILED = path.join(DIST, 'runtime/cli/shadow/arm-process.js');
const BUNDLED = path.join(DIST, 'bundle/runtime.cli.shadow.arm-process.js');

const runMain = Module.runMain;
Module.runMain = (main = process.argv[1]) => {
  runMain.call(Module, main === COMPILED ? BUNDLED : main);
};

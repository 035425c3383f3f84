import { Writable } from 'node:stream';
import { pino } from 'pino';
import type { Voice } from '../../serve/app/serve.js';
import { renderDiagnostics } from '../../project/config/diagnostics/render.js';
import { printable } from '../../ground/core/display-width.js';
import { wrap } from '../../ground/core/wrap.js';
import { styleOf } from '../../ground/core/console.js';
import type { CliContext } from '../context.js';

/** How `dev` tells what happens: text for a person at a terminal instead of log lines. The address goes to stdout. */
export function devVoice(context: CliContext): Voice {
  const { stdout, stderr } = context;
  const style = styleOf(context, stderr);
  const say = (text: string): void => void stderr.write(wrap(text, 0, style.width));
  return {
    logger: pino({ level: 'warn' }, lineStream(say)),
    started: ({ app, adminUrl }) => {
      stdout.write(`${adminUrl}/workbench\n`);
      if (app.warnings.length > 0) stderr.write(`${renderDiagnostics(app.warnings, style)}\n`);
      for (const { pipeline, step, message, help } of app.advice)
        say(`advice: ${pipeline}:${step}: ${message}; ${help}`);
      for (const { name, route } of app.pipelines) say(`${name}: POST ${route}`);
      if (app.pipelines.some(({ addressFields }) => addressFields !== undefined))
        say(
          'Open the address above in a browser and type a query: it shows what is found, and why in this order.',
        );
      say('Changes of the files apply at once. Ctrl-C stops the service.');
    },
    tellReload: (report) => {
      if (report.diagnostics.length > 0) stderr.write(`${renderDiagnostics(report.diagnostics, style)}\n`);
      const time = new Date(report.at).toTimeString().slice(0, 8);
      if (report.outcome === 'succeeded') {
        say(`${time} reloaded in ${report.ms} ms: ${report.pipelines.join(', ')}`);
        return;
      }
      if (report.problem !== undefined) say(`error: ${printable(report.problem.detail)}`);
      say(`${time} not reloaded; the previous version continues to serve`);
    },
  };
}

/** The fields that every log line has. */
const ALWAYS: ReadonlySet<string> = new Set(['level', 'time', 'pid', 'hostname', 'msg']);

/** Takes log lines, and says each as a sentence with its fields. */
function lineStream(say: (text: string) => void): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      for (const line of chunk.toString().split('\n')) if (line !== '') say(sentence(line));
      done();
    },
  });
}

function sentence(line: string): string {
  const record = JSON.parse(line) as Record<string, unknown> & { readonly msg?: string };
  const fields = Object.entries(record).filter(([name]) => !ALWAYS.has(name));
  const told = fields.map(
    ([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const kind = Number(record.level) >= 50 ? 'error' : 'warning';
  return printable(`${kind}: ${[record.msg ?? '', ...told].join('; ')}`);
}

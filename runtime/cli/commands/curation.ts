import { Command, Option } from 'commander';
import { readFile, writeFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { SHEET_FORMS, type SheetForm } from '../../project/config/curation/write-sheet.js';
import { printJson, type CliContext } from '../context.js';
import type { HttpTarget } from '../load/http-target.js';
import { openService } from '../load/open-target.js';
import { addServiceFlag } from '../setting-flags.js';

interface UploadFlags {
  readonly url: string;
  readonly draft: string;
  readonly json?: boolean;
}

interface ExportFlags {
  readonly url: string;
  readonly draft?: string;
  readonly form?: SheetForm;
  readonly out?: string;
}

export function curationCommand(context: CliContext): Command {
  const upload = new Command('upload')
    .description('save the campaigns of a CSV file in a draft: all of them, or none')
    .argument('<LIST>', 'name of a list of curation/')
    .argument('<FILE>', 'the file, also as Excel writes it; - is standard input')
    .requiredOption('--draft <NAME>', 'the draft')
    .option('--json', 'print the draft as JSON')
    .action((list: string, file: string, flags: UploadFlags) => uploadSheet(context, list, file, flags));
  const exported = new Command('export')
    .description('write the campaigns of a list as a CSV file that spreadsheets open')
    .argument('<LIST>', 'name of a list of curation/')
    .option('--draft <NAME>', 'as they are once this draft is published')
    .addOption(
      new Option('--form <FORM>', 'german: semicolons, 27.11.2026 and 1,5 [default plain]').choices(
        SHEET_FORMS,
      ),
    )
    .option('--out <FILE>', 'write it there instead of to standard output')
    .action((list: string, flags: ExportFlags) => exportSheet(context, list, flags));
  return new Command('curation')
    .description('exchange campaigns with spreadsheets')
    .addCommand(addServiceFlag(upload))
    .addCommand(addServiceFlag(exported));
}

async function uploadSheet(
  context: CliContext,
  list: string,
  file: string,
  { url, draft, json }: UploadFlags,
): Promise<void> {
  const sheet = await (file === '-' ? buffer(context.stdin) : readFile(file)).catch((error: unknown) => {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new CommandFailure(`${file} cannot be read (${code})`, 'check the path', { cause: error });
  });
  const answer = await atService(context, url, (service) => service.uploadSheet(list, draft, sheet));
  if (json === true) printJson(context, answer);
  else {
    const names = answer.changes.map(({ campaign }) => campaign);
    context.stdout.write(`the draft ${draft} changes ${names.length} campaigns: ${names.join(', ')}\n`);
  }
}

async function exportSheet(
  context: CliContext,
  list: string,
  { url, draft, form, out }: ExportFlags,
): Promise<void> {
  const asked = { list, ...(draft === undefined ? {} : { draft }), ...(form === undefined ? {} : { form }) };
  const { file, campaigns } = await atService(context, url, (service) => service.exportSheet(asked));
  const bytes = Buffer.from(file, 'base64');
  if (out === undefined) context.stdout.write(bytes);
  else {
    await writeFile(out, bytes).catch((error: unknown) => {
      const { code = '' } = error as NodeJS.ErrnoException;
      throw new CommandFailure(`${out} cannot be written (${code})`, 'check the path', { cause: error });
    });
    context.stdout.write(`${campaigns} campaigns written to ${out}\n`);
  }
}

async function atService<T>(
  context: CliContext,
  url: string,
  work: (service: HttpTarget) => Promise<T>,
): Promise<T> {
  const service = openService(context, url, false);
  try {
    return await work(service);
  } finally {
    await service.close();
  }
}

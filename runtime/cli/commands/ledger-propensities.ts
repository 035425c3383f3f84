import { Command, Option } from 'commander';
import { styleOf } from '../../ground/core/console.js';
import { printJson, settingsOf, type CliContext } from '../context.js';
import type { SettingFlags } from '../../project/settings/settings.js';
import { wrap } from '../../ground/core/wrap.js';
import { writeOutput } from '../report/output.js';
import { checkLedger } from '../../state/ledger/ledger-folder.js';
import {
  estimateExamination,
  METHODS,
  type Estimated,
  type Method,
} from '../../learn/judge/examined-places.js';
import { renderTable } from '../report/table.js';
import { addSettingFlags } from '../setting-flags.js';

interface Flags extends SettingFlags {
  readonly ledger?: string;
  readonly pipeline?: string;
  readonly event: string;
  readonly method?: Method;
  readonly out?: string;
  readonly json?: boolean;
}

export function ledgerPropensitiesCommand(context: CliContext): Command {
  const command = new Command('propensities')
    .description('estimate how much users look at each place, from pages whose places were drawn')
    .option('--ledger <DIR>', 'folder of the ledger [default: that of the project]')
    .option('--pipeline <NAME>', 'whose pages; needed if the ledger has drawn pages of several')
    .option('--event <KIND>', 'the kind of feedback that needs a look', 'click')
    .addOption(
      new Option(
        '--method <METHOD>',
        'how the places were drawn: neighbours swapped, or in random order [default: as the log says]',
      ).choices(METHODS),
    )
    .option('--out <FILE>', 'write the list for tune --propensities and train --propensities')
    .option('--json', 'print the estimates as JSON')
    .action((flags: Flags) => propensities(context, flags));
  return addSettingFlags(command, ['project', 'dataDir']);
}

async function propensities(context: CliContext, flags: Flags): Promise<void> {
  const ledger = flags.ledger ?? (await settingsOf(context, flags)).ledgerDir;
  await checkLedger(context, ledger);
  const found = await estimateExamination(context, ledger, flags);
  if (flags.out !== undefined) await writeOutput(flags.out, `${JSON.stringify(found.propensities)}\n`);
  if (flags.json === true) printJson(context, jsonOf(found));
  else context.stdout.write(textOf(found, flags, styleOf(context, context.stdout).width));
}

function jsonOf({ pipeline, method, pages, places, propensities: values }: Estimated): object {
  return {
    pipeline,
    method,
    pages,
    propensities: values,
    places: places.map(({ place, value, standardError, clicks }) => ({
      place,
      examination: value,
      standard_error: standardError,
      clicks,
    })),
  };
}

function textOf(
  { pipeline, method, pages, places, propensities: values }: Estimated,
  { out }: Flags,
  width: number,
): string {
  const how = method === 'swap' ? 'swapped neighbours' : 'random order';
  return [
    wrap(`${pipeline}: ${pages.toLocaleString('en')} pages with drawn places, by ${how}`, 0, width),
    renderTable(
      { place: 'right', examined: 'right', '95 % interval': 'left', clicks: 'right', propensity: 'right' },
      places.map(({ place, value, standardError, clicks }, at) => [
        place,
        value.toFixed(3),
        place === 1 ? '' : `± ${(1.96 * standardError).toFixed(3)}`,
        clicks.toLocaleString('en'),
        (values[at] ?? NaN).toFixed(3),
      ]),
    ),
    out === undefined ? '' : `wrote ${out}\n`,
  ].join('');
}

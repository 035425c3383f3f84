import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { repositoryPath } from '../support/repository.js';
import { withFiles } from '../support/temporary-files.js';

const SCRIPT = repositoryPath('deploy', 'retrain', 'retrain.sh');
const OLD = 'the old model\n';
const NEW = 'the new model\n';
const MODEL = 'shop/models/ltr.txt';
/** Stands for the commands: notes its words, fails at the call FAIL_AT, "trains" NEW, and judges as GATE says. */
const MILLRACE = `#!/bin/sh
echo "$*" >> "$CALLS"
if [ "$(wc -l < "$CALLS")" -eq "\${FAIL_AT:-0}" ]; then exit 7; fi
case "$1" in
  settings)
    echo '{"settings":[{"key":"ledger.dir","value":"/ledger"},{"key":"store","value":"'"\${STORE:-redis}"'"}]}' ;;
  train)
    for word in "$@"; do
      if [ "$before" = --out ]; then printf '${NEW.replace('\n', '\\n')}' > "$word"; echo '{}' > "$word.card.json"; fi
      before=$word
    done ;;
  evaluate)
    for word in "$@"; do
      if [ "$before" = --junit ]; then echo '<testsuites/>' > "$word"; fi
      before=$word
    done
    exit "\${GATE:-0}" ;;
esac
`;

interface Run {
  readonly code: number | null;
  readonly errors: string;
  /** The model file when the script has ended. */
  readonly model: string;
  readonly calls: readonly string[];
}

describe('deploy/retrain/retrain.sh', () => {
  let service: Server;
  /** The model that the service serves, as its project version; it takes each new file unless it refuses NEW. */
  let refuses = false;
  let served = '';
  let root = '';

  before(async () => {
    service = createServer((_, answer) => {
      void readFile(join(root, MODEL), 'utf8').then((model) => {
        if (!refuses || model !== NEW) served = model.trim().replaceAll(' ', '-');
        answer.end(JSON.stringify({ status: 'OK', project_version: served }));
      });
    }).listen(0, '127.0.0.1');
    await once(service, 'listening');
  });
  after(() => service.close());
  beforeEach(() => (refuses = false));

  const inShop = async (test: () => Promise<void>): Promise<void> => {
    const files = {
      [MODEL]: OLD,
      'shop/.millrace/large': 'not copied',
      'shop/schemas/entities/product.yaml': 'entity: product\n',
      'bin/millrace': MILLRACE,
    };
    await withFiles(files, async (folder) => {
      root = folder;
      await chmod(join(root, 'bin/millrace'), 0o755);
      await test();
    });
  };

  async function retrain(more: Readonly<Record<string, string>>, ...words: readonly string[]): Promise<Run> {
    const calls = join(root, `calls-${Math.random()}`);
    const { port } = service.address() as AddressInfo;
    const child = spawn('sh', [SCRIPT, ...words], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        PATH: [join(root, 'bin'), dirname(process.execPath), process.env.PATH].join(delimiter),
        MILLRACE_PROJECT: join(root, 'shop'),
        ...{ RETRAIN_STEP: 'search:ltr', RETRAIN_MODEL: 'models/ltr.txt', RETRAIN_WAIT: '0', CALLS: calls },
        ...{ RETRAIN_URLS: `http://127.0.0.1:${port}`, RETRAIN_EVALUATE: '--judgments judgments.csv' },
        ...more,
      },
    });
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    const lines = await readFile(calls, 'utf8').catch(() => '');
    const model = await readFile(join(root, MODEL), 'utf8');
    return { code, errors, model, calls: lines.split('\n').filter((line) => line !== '') };
  }

  it('leaves the served model as it is, whichever command fails before it is published', async () => {
    let calls: readonly string[] = [];
    await inShop(async () => {
      const whole = await retrain({ STORE: 'embedded' });
      expect(whole, whole.errors).to.include({ code: 0, model: NEW });
      ({ calls } = whole);
    });
    const gate = calls.findIndex((line) => line.startsWith('evaluate'));
    expect(gate).to.be.above(calls.findIndex((line) => line.startsWith('entities export product')));
    for (const at of calls.keys())
      await inShop(async () => {
        const { code, errors, model } = await retrain({ STORE: 'embedded', FAIL_AT: String(at + 1) });
        const last = errors.trim().split('\n').at(-1);
        expect({ code, model }, calls[at]).to.deep.equal({ code: 7, model: at <= gate ? OLD : NEW });
        expect(last).to.match(
          at <= gate ? /^retrain: \w+ failed; .* as before$/ : /^retrain: watch failed; .* new$/,
        );
      });
  });

  it('exits with 3 if the gate refuses', () =>
    inShop(async () => {
      const refused = await retrain({ GATE: '1' });
      expect(refused).to.include({ code: 3, model: OLD });
      expect(refused.errors).to.equal('retrain: the gate refused; the model that is served: as before\n');
    }));

  it('goes back to the model before, and refuses if there is none', () =>
    inShop(async () => {
      expect(await retrain({}, 'back')).to.include({ code: 1, model: OLD });
      expect(await retrain({})).to.include({ code: 0, model: NEW });
      expect(await retrain({}, 'back')).to.include({ code: 0, model: OLD });
    }));

  it('puts the model before back if an instance refuses the new one, or the reload fails', () =>
    inShop(async () => {
      refuses = true;
      const refused = await retrain({});
      expect(refused).to.include({ code: 1, model: OLD });
      expect(refused.errors).to.match(
        /does not serve the new version.*\nretrain: reload failed; .* as before\n$/,
      );
      refuses = false;
      const failed = await retrain({ RETRAIN_RELOAD: 'test "$(cat models/ltr.txt)" = "the old model"' });
      expect(failed, failed.errors).to.include({ code: 1, model: OLD });
    }));

  it('puts the model before back on SIGTERM during the reload', () =>
    inShop(async () => {
      const stopped = await retrain({
        RETRAIN_RELOAD: 'if grep -q new "$MILLRACE_PROJECT/models/ltr.txt"; then kill -TERM $PPID; fi',
      });
      expect(stopped, stopped.errors).to.include({ code: 143, model: OLD });
    }));

  it('starts only if each instance is ready with one version, and there is a model', () =>
    inShop(async () => {
      const down = await retrain({ RETRAIN_URLS: 'http://127.0.0.1:1' });
      expect(down).to.include({ code: 1, model: OLD }).and.to.have.property('calls').that.is.empty;
      expect(down.errors).to.match(/is not ready.*: unreachable\nretrain: start failed/);
      const missing = await retrain({ RETRAIN_MODEL: 'models/other.txt' });
      expect(missing).to.include({ code: 1 });
      expect(missing.errors).to.contain('other.txt is no file: train and serve the first model by hand');
      expect((await retrain({ RETRAIN_EVALUATE: '' })).errors).to.contain('RETRAIN_EVALUATE');
    }));
});

import { expect } from 'chai';
import { compileProject } from '../../../../runtime/serve/app/project/compile-project.js';
import { renderDiagnostics } from '../../../../runtime/project/config/diagnostics/render.js';
import { AllowedHosts } from '../../../../runtime/project/settings/allowed-hosts.js';
import { withFiles } from '../../../support/temporary-files.js';

const PIPELINE = {
  'pipelines/ranking.yaml':
    'pipeline: ranking\nrank: product\ncomponents:\n  - use: score\n    with: { value: 1 }\n',
};

/** The diagnostics of a project with one sink. */
async function told(yaml: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
  const files = { ...PIPELINE, 'sinks/out.yaml': `sink: out\n${yaml}`, ...more };
  return withFiles(files, async (root) => {
    const sinkHosts = AllowedHosts.parse('collector') ?? AllowedHosts.none;
    const compiled = await compileProject(root, { sinkHosts });
    await compiled.close();
    return renderDiagnostics(compiled.diagnostics, { color: false, width: 200 });
  });
}

describe('the file of a sink', () => {
  it('is compiled with its options and their defaults', async () => {
    const yaml =
      'use: http\ntake: [feedback]\nformat: events\nqueue: 2MB\nwith: { url: "http://collector/x" }\n';
    await withFiles({ ...PIPELINE, 'sinks/out.yaml': `sink: out\n${yaml}` }, async (root) => {
      const compiled = await compileProject(root, {
        sinkHosts: AllowedHosts.parse('collector') ?? AllowedHosts.none,
      });
      expect(compiled.diagnostics).to.deep.equal([]);
      const [{ definition, sink } = expect.fail('there is no sink')] = compiled.sinks;
      expect(definition).to.deep.include({
        name: 'out',
        take: ['feedback'],
        format: 'events',
        queueBytes: 2 * 2 ** 20,
      });
      expect(sink.batchBytes).to.equal(2 ** 20);
      await compiled.close();
    });
  });

  it('is file, without a file, for a project that logs and has no sinks', async () => {
    const files = { 'pipelines/ranking.yaml': `${PIPELINE['pipelines/ranking.yaml']}log: {}\n` };
    await withFiles(files, async (root) => {
      const compiled = await compileProject(root);
      expect(compiled.diagnostics).to.deep.equal([]);
      expect(compiled.sinks.map(({ definition }) => [definition.name, definition.use.value])).to.deep.equal([
        ['file', 'file'],
      ]);
      await compiled.close();
    });
  });

  it('names the nearest sink for a plugin that does not exist', async () => {
    expect(await told('use: htp\n')).to
      .equal(`sinks/out.yaml:2:6: error[unknown_plugin]: there is no sink \`htp\`
 2 | use: htp
   |      ^^^
   help: did you mean \`http\`?

1 error`);
  });

  it('says that a component is not a sink, and that a sink is not a component', async () => {
    expect(await told('use: boost\n')).to
      .equal(`sinks/out.yaml:2:6: error[unknown_plugin]: \`boost\` is a component of pipelines, not a sink
 2 | use: boost
   |      ^^^^^
   help: the sinks are file, http, kafka, redis_stream, s3

1 error`);
    const pipeline = 'pipeline: ranking\nrank: product\ncomponents:\n  - use: kafka\n';
    expect(await told('use: file\n', { 'pipelines/ranking.yaml': pipeline })).to.include(
      '`kafka` is a sink for records, not a component',
    );
  });

  it('reports wrong options at their places', async () => {
    const message = await told('use: http\nwith: { urll: "http://collector", timeout: 10 }\n');
    expect(message).to.include('did you mean `url`?').and.to.include('`timeout`');
    expect(await told('use: http\nwith: { url: "http://elsewhere/x" }\n')).to.equal(`sinks/out.yaml:3:14: ${[
      'error[invalid_option]: the host elsewhere:80 is not allowed;',
      'allow it with the setting MILLRACE_SINK_HOSTS, e.g. MILLRACE_SINK_HOSTS=elsewhere:80',
    ].join(' ')}
 3 | with: { url: "http://elsewhere/x" }
   |              ^^^^^^^^^^^^^^^^^^^^

1 error`);
  });

  it('keeps secrets out of the file and out of every message', async () => {
    const before = process.env['SINK_TEST_PASSWORD'];
    process.env['SINK_TEST_PASSWORD'] = 'geheim-123456';
    try {
      const literal = await told(
        'use: kafka\nwith: { brokers: ["k:9092"], topic: t, username: u, password: hunter2-hunter2 }\n',
      );
      expect(literal).to.include(
        'error[literal_secret]: `password`: a secret must come from an environment variable',
      );
      expect(literal).to.include('write `password: "${OUT_PASSWORD}"` and set that variable');
      const inUrl = await told(
        'use: redis_stream\nwith: { url: "redis://u:hunter2-hunter2@s:6379", stream: t }\n',
      );
      expect(inUrl).to.include('`url`: the password must come from an environment variable');
      const wrong = await told(
        'use: kafka\nwith: { brokers: ["k"], topic: t, username: u, password: "${SINK_TEST_PASSWORD}" }\n',
      );
      expect(wrong).to.include('expected host:port');
      const sound = await told(
        'use: redis_stream\nwith: { url: "redis://u:${SINK_TEST_PASSWORD}@s:6379", stream: t }\n',
      );
      expect(sound).to.not.include('error');
      for (const message of [literal, inUrl, wrong]) expect(message).to.not.match(/hunter2|geheim/);
    } finally {
      if (before === undefined) delete process.env['SINK_TEST_PASSWORD'];
      else process.env['SINK_TEST_PASSWORD'] = before;
    }
  });
});

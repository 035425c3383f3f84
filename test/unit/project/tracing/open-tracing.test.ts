import { expect } from 'chai';
import { pino } from 'pino';
import { loadSettings } from '../../../../runtime/project/settings/settings.js';
import { openTracing } from '../../../../runtime/project/tracing/open-tracing.js';

const parts = { findPackage: (): undefined => undefined, logger: pino({ level: 'silent' }) };

describe('opening the tracing', () => {
  for (const traces of ['off', 'auto'])
    it(`loads no SDK with MILLRACE_TRACES=${traces}`, async () => {
      expect(await openTracing(loadSettings({ MILLRACE_TRACES: traces }), parts)).to.equal(undefined);
    });

  it('says how to install the SDK', async () => {
    const error = await openTracing(loadSettings({ MILLRACE_TRACES: 'on' }), parts).then(
      () => expect.fail('it needs the SDK'),
      (fault: unknown) => fault,
    );
    expect(error).to.have.property('code', 'invalid_setting');
    expect(error)
      .to.have.property('message')
      .that.equals(
        'MILLRACE_TRACES is on, and the package @opentelemetry/sdk-trace is not installed; install it beside the project or Millrace: npm install @opentelemetry/sdk-trace @opentelemetry/exporter-trace-otlp-proto (with Node 20: @opentelemetry/sdk-trace@2 @opentelemetry/exporter-trace-otlp-proto@0.223)',
      );
  });
});

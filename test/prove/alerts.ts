import { setTimeout as pause } from 'node:timers/promises';
import { ALERTS } from '../../scripts/observe/alerts.js';
import type { Proof, ProofOptions, ProofResult } from './proof.js';
import { ALERT_FAULTS, withAlertStage, type AlertFault } from './support/alert-faults.js';
import { playToRules, startPrometheus, type PrivatePrometheus } from './support/prometheus.js';

/** Seconds under load before the fault. */
const QUIET_S = 6;
/** Seconds within which an alert must fire: its longest `for` and window, and the time to notice. */
const FIRES_WITHIN_S = 45;
const HEALTHY_S = 20;
/** Faults at the same time. */
const LANES = 2;

/** Shows that each alert fires on its fault, and that a healthy service fires none. */
export const alerts: Proof = {
  name: 'alerts',
  summary: 'every alert rule fires on the fault that it names, and none on a healthy service',
  run: prove,
};

async function prove({ short, only }: ProofOptions): Promise<ProofResult> {
  const missed: string[] = [];
  const covered = new Set(ALERT_FAULTS.flatMap((one) => one.alerts));
  for (const { name } of ALERTS) if (!covered.has(name)) missed.push(`${name}: no fault fires it`);
  const chosen = ALERT_FAULTS.filter(({ fault, short: isShort }) =>
    only === undefined ? !short || isShort === true : only.test(fault),
  );
  const rows: string[] = [];
  const waiting: (() => Promise<void>)[] = [
    async () => {
      const fired = await healthy(short ? HEALTHY_S / 2 : HEALTHY_S);
      rows.push(`| a healthy service under load | ${fired.length === 0 ? 'none' : fired.join(', ')} | |`);
      for (const name of fired) missed.push(`${name} fires on a healthy service`);
    },
    ...chosen.map((fault) => async () => {
      rows.push(...(await measure(fault, missed)));
    }),
  ];
  const lane = async (): Promise<void> => {
    for (let work = waiting.shift(); work !== undefined; work = waiting.shift()) await work();
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return { markdown: [...HEAD, ...rows.sort()].join('\n'), missed };
}

const HEAD = [
  'A Prometheus scrapes a real service each second, with the rules sped up: a second stands for a minute. Its samples are',
  'then played to the committed rules with `promtool test rules`, a minute apart.',
  '',
  '| fault | alert | fires after |',
  '| ----- | ----- | ----------- |',
];

/** Returns the alerts that fire although nothing is wrong. */
async function healthy(seconds: number): Promise<string[]> {
  const prometheus = await startPrometheus(ALERTS);
  try {
    return await withAlertStage({}, prometheus.watch, async () => {
      await pause(seconds * 1000);
      return (await prometheus.alerts()).map(({ labels }) => labels.alertname ?? '');
    });
  } finally {
    await prometheus.stop();
  }
}

async function measure(fault: AlertFault, missed: string[]): Promise<string[]> {
  console.log(`    ${fault.fault}`);
  const prometheus = await startPrometheus(ALERTS);
  try {
    return await withAlertStage(fault, prometheus.watch, async (stage) => {
      await pause(QUIET_S * 1000);
      const early = await firing(prometheus);
      for (const name of fault.alerts)
        if (early.has(name)) missed.push(`${name} fires before the fault: ${fault.fault}`);
      const began = performance.now();
      const faultAt = Date.now() / 1000;
      await fault.make(stage);
      return await Promise.all(
        fault.alerts.map(async (name) => {
          const seconds = await fires(prometheus, name, began);
          if (seconds === undefined) missed.push(`${name} does not fire: ${fault.fault}`);
          else await played(prometheus, name, faultAt, missed);
          return `| ${fault.fault} | ${name} | ${seconds === undefined ? 'never' : `${Math.round(seconds)} min`} |`;
        }),
      );
    });
  } catch (error) {
    missed.push(`${fault.alerts.join(', ')}: ${String(error)}`);
    return [];
  } finally {
    await prometheus.stop();
  }
}

/** Returns the seconds until the alert fires; undefined if it does not in time. */
async function fires(
  prometheus: PrivatePrometheus,
  name: string,
  began: number,
): Promise<number | undefined> {
  for (;;) {
    const seconds = (performance.now() - began) / 1000;
    if ((await firing(prometheus)).has(name)) return seconds;
    if (seconds > FIRES_WITHIN_S) return undefined;
    await pause(250);
  }
}

async function firing(prometheus: PrivatePrometheus): Promise<ReadonlySet<string>> {
  const all = await prometheus.alerts();
  return new Set(all.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname ?? ''));
}

/** Plays what Prometheus recorded to the rules as they are committed. */
async function played(
  prometheus: PrivatePrometheus,
  name: string,
  faultAt: number,
  missed: string[],
): Promise<void> {
  const rule = ALERTS.find((one) => one.name === name);
  // The rule of the committed file sees its window end a little later than the sped-up one.
  await pause(2000);
  try {
    await playToRules(name, await prometheus.series(rule?.expr ?? ''), faultAt);
  } catch (error) {
    missed.push(`${name}: ${String(error)}`);
  }
}

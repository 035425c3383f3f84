import type { Evaluation } from './evaluation.js';
import { escaped } from './escaped.js';
import { gateText } from './evaluation-text.js';

/**
 * A JUnit report with one test case for each gate. The metrics are properties of the suite.
 * Source: the schema of the Jenkins JUnit plugin, `junit-10.xsd`.
 */
export function junitReport({ pipeline, gates, report }: Evaluation): string {
  const name = `millrace evaluate ${pipeline}`;
  const failures = gates.filter(({ passed }) => !passed).length;
  const properties = report.metrics.flatMap(({ metric, mean, interval, delta }) => [
    [metric, mean],
    [`lower(${metric})`, interval.lower],
    [`upper(${metric})`, interval.upper],
    ...(delta === undefined ? [] : [[`delta.${metric}`, delta.mean] as const]),
  ]);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites tests="${gates.length}" failures="${failures}">`,
    `  <testsuite name="${escaped(name)}" tests="${gates.length}" failures="${failures}" errors="0" skipped="0">`,
    '    <properties>',
    ...properties.map(
      ([key, value]) => `      <property name="${escaped(String(key))}" value="${String(value)}"/>`,
    ),
    '    </properties>',
    ...gates.map((gate) => {
      const open = `    <testcase classname="${escaped(name)}" name="${escaped(gate.text)}"`;
      const found = escaped(gateText(gate));
      return gate.passed ? `${open}/>` : `${open}><failure message="${found}">${found}</failure></testcase>`;
    }),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

import type { ProjectFile } from '../../runtime/ground/api/build-context.js';

export * from '../../runtime/cli/testing/fake-ranking.js';
export * from '../../runtime/cli/testing/fake-step.js';

export function projectFile(path: string, content: string): ProjectFile {
  return { path, content: Buffer.from(content), version: '000000000000' };
}

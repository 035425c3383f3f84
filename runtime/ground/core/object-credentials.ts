import { pathToFileURL } from 'node:url';
import type * as ProviderChain from '@aws-sdk/credential-provider-node';
import { ObjectError } from './object-error.js';

/** The npm package that finds the credentials of roles and profiles: an optional peer. */
const CHAIN = '@aws-sdk/credential-provider-node';

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Gives the credentials for a request. @throws ObjectError if there are none now */
export type CredentialSource = () => Promise<Credentials>;

/**
 * The variables come first; without them, the package is asked. It keeps what it finds, and asks again five minutes before
 * that expires.
 * @param findPackage see `packageFinder`
 * @throws ObjectError if a variable is missing, and the package is not installed
 */
export function credentialSource(
  env: NodeJS.ProcessEnv,
  findPackage: (name: string) => string | undefined,
): CredentialSource {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId = '',
    AWS_SECRET_ACCESS_KEY: secretAccessKey = '',
    AWS_SESSION_TOKEN: sessionToken = '',
  } = env;
  if (accessKeyId !== '' && secretAccessKey !== '') {
    const given = { accessKeyId, secretAccessKey, ...(sessionToken === '' ? {} : { sessionToken }) };
    return () => Promise.resolve(given);
  }
  const path = accessKeyId + secretAccessKey === '' ? findPackage(CHAIN) : undefined;
  if (path === undefined)
    throw new ObjectError('object storage needs credentials', {
      help:
        'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN for temporary ones; ' +
        `for those of a role or a profile, run \`npm install ${CHAIN}@3\` in the project, or beside Millrace`,
    });
  return foundBy(path);
}

function foundBy(path: string): CredentialSource {
  let chain: Promise<ReturnType<typeof ProviderChain.defaultProvider>> | undefined;
  return async () => {
    chain ??= (import(pathToFileURL(path).href) as Promise<{ readonly default: typeof ProviderChain }>).then(
      ({ default: { defaultProvider } }) => defaultProvider(),
    );
    try {
      return await (
        await chain
      )();
    } catch (error) {
      // The server of a role may not answer for a moment.
      throw new ObjectError(`object storage has no credentials: ${(error as Error).message}`, {
        code: 'UNREACHABLE',
        help: 'docs/object-storage.md lists where credentials are looked for',
        cause: error,
      });
    }
  };
}

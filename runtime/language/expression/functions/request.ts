/** Functions of the context of a request: its user agent, referrer, languages and place. */
import { userAgent } from '../../../ground/core/user-agent.js';
import { preferredLanguage } from '../../../ground/core/accept-language.js';
import type { Argument } from '../domain.js';
import { distance } from '../kernels/geo.js';
import { measuring, namingText } from '../kernels/texts.js';
import { referrerOf } from '../kernels/referrer.js';
import { operation } from '../operation.js';
import { BOOL, NUMBER, TEXT } from '../types.js';
import { areAll, isKind, type FunctionEntry } from './function-entry.js';

function ofText(
  name: string,
  argument: string,
  like: readonly [string, ...string[]],
  summary: string,
  f: (text: string) => string,
): FunctionEntry {
  const build = namingText(f);
  return {
    name,
    group: 'request',
    signature: `${name}(${argument})`,
    summary,
    arity: [1, 1],
    domain: [[{ like }]],
    check: (call) => (isKind(call, 0, 'text') ? operation(call.node, TEXT, call.args, build) : undefined),
  };
}

const USER_AGENTS = ['Mozilla/5.0 (X11; Linux x86_64) ', 'Version/17.0 Mobile Safari ', 'bot/'] as const;
const URLS = ['https://www.google.com/search?q=', 'https://', 'a.'] as const;
const LATITUDE: Argument = { from: -90, to: 90 };
const LONGITUDE: Argument = { from: -180, to: 180 };

export const REQUEST_FUNCTIONS: readonly FunctionEntry[] = [
  ofText(
    'platform',
    'user_agent',
    USER_AGENTS,
    'The kind of device: "desktop", "mobile", "tablet", "tv" or "bot"; absent if the user agent does not say it.',
    (text) => userAgent(text).platform,
  ),
  ofText(
    'os',
    'user_agent',
    USER_AGENTS,
    'The operating system in lower case, such as "windows", "ios" or "android"; absent if it is not known.',
    (text) => userAgent(text).os,
  ),
  ofText(
    'browser',
    'user_agent',
    USER_AGENTS,
    'The browser in lower case, such as "chrome", "safari" or "firefox"; absent if it is not known.',
    (text) => userAgent(text).browser,
  ),
  {
    name: 'is_bot',
    group: 'request',
    signature: 'is_bot(user_agent)',
    summary: 'Whether the user agent is that of a crawler or a script, not of a browser.',
    arity: [1, 1],
    domain: [[{ like: USER_AGENTS }]],
    check: (call) =>
      isKind(call, 0, 'text')
        ? operation(call.node, BOOL, call.args, measuring({ of: (text) => (userAgent(text).isBot ? 1 : 0) }))
        : undefined,
  },
  ofText(
    'language',
    'accept_language',
    ['de-AT;q=0.8,', 'en,'],
    'The language that the header Accept-Language prefers, without its region: "de" for "de-AT, en;q=0.8"; absent if it names none.',
    preferredLanguage,
  ),
  {
    name: 'referrer_medium',
    group: 'request',
    signature: 'referrer_medium(url, host, …)',
    summary:
      'Where a visitor came from: "search", "social", "email", "paid", "internal" (one of the hosts, or below it) or "unknown".',
    arity: [1, Infinity],
    domain: [
      [{ like: URLS }],
      [{ like: URLS }, { like: ['shop.example', 'example'] }],
      [{ like: URLS }, 'text', 'text'],
    ],
    check: (call) => (areAll(call, 'text') ? operation(call.node, TEXT, call.args, referrerOf) : undefined),
  },
  {
    name: 'geo_distance',
    group: 'request',
    signature: 'geo_distance(lat1, lon1, lat2, lon2)',
    summary:
      'The kilometres between two places along a great circle (haversine formula, radius 6,371.0088 km). Latitudes are −90 to 90 degrees, longitudes −180 to 180; others have no result.',
    arity: [4, 4],
    domain: [[LATITUDE, LONGITUDE, LATITUDE, LONGITUDE]],
    check: (call) => (areAll(call, 'number') ? operation(call.node, NUMBER, call.args, distance) : undefined),
  },
];

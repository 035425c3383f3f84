import type { FeatureRow, Ranking } from '../feature-row.js';
import { REFERRERS } from '../referrers.js';
import { knownUserAgent, metarankPlatform } from '../user-agents.js';

/** The parts of the text: Metarank parses it as a time with an offset. */
function local({ localTime }: Ranking): { date: Date; seconds: number; epoch: number } {
  const date = new Date(`${localTime.slice(0, 19)}Z`);
  return {
    date,
    seconds: date.getUTCHours() * 3600 + date.getUTCMinutes() * 60 + date.getUTCSeconds(),
    epoch: Date.parse(localTime) / 1000,
  };
}

const PARTS: readonly (readonly [name: string, value: string, of: (ranking: Ranking) => number])[] = [
  [
    'local_time: time_of_day',
    'hour(request.local_time, request.zone) + minute(request.local_time, request.zone) / 60 + second(request.local_time, request.zone) / 3600',
    (ranking) => local(ranking).seconds / 3600,
  ],
  [
    'local_time: day_of_week',
    'weekday(request.local_time, request.zone)',
    (ranking) => local(ranking).date.getUTCDay() || 7,
  ],
  [
    'local_time: day_of_month',
    'day_of_month(request.local_time, request.zone)',
    (ranking) => local(ranking).date.getUTCDate(),
  ],
  [
    'local_time: month_of_year',
    'month(request.local_time, request.zone)',
    (ranking) => local(ranking).date.getUTCMonth() + 1,
  ],
  [
    'local_time: year',
    'year(request.local_time, request.zone)',
    (ranking) => local(ranking).date.getUTCFullYear(),
  ],
  [
    'local_time: second',
    'floor((request.local_time - time("1970-01-01")) / 1000)',
    (ranking) => local(ranking).epoch,
  ],
];

const isBot = (ranking: Ranking): boolean => knownUserAgent(ranking.userAgent).device === 'Spider';

/** One column of a one-hot encoding of a text; Metarank gives 0 to all columns if there is no value. */
function oneHot(name: string, value: string, is: (ranking: Ranking) => boolean): FeatureRow {
  return {
    name,
    value: `coalesce(if(${value}, 1, 0), 0)`,
    metarank: (_item, { ranking }) => Number(is(ranking)),
  };
}

/** The names of browsers and systems here, and those of uap-core. */
const BROWSERS = [
  ['chrome', ['Chrome', 'Chrome Mobile']],
  ['firefox', ['Firefox', 'Firefox Mobile']],
  ['safari', ['Safari', 'Mobile Safari']],
  ['microsoft edge', ['Edge']],
] as const;
const SYSTEMS = [
  ['windows', 'Windows'],
  ['macos', 'Mac OS X'],
  ['ios', 'iOS'],
  ['android', 'Android'],
  ['linux', 'Linux'],
  ['chrome os', 'Chrome OS'],
] as const;

export const CONTEXT: readonly FeatureRow[] = [
  ...PARTS.map(([name, value, of]): FeatureRow => ({
    name,
    value,
    metarank: (_item, { ranking }) => of(ranking),
  })),
  ...['mobile', 'desktop', 'tablet'].map((platform) =>
    oneHot(
      'ua: platform',
      `platform(request.user_agent) == "${platform}"`,
      (ranking) => metarankPlatform(knownUserAgent(ranking.userAgent)) === platform,
    ),
  ),
  ...SYSTEMS.map(([ours, theirs]) =>
    oneHot(
      'ua: os',
      `os(request.user_agent) == "${ours}"`,
      (ranking) => knownUserAgent(ranking.userAgent).os === theirs,
    ),
  ),
  ...BROWSERS.map(([ours, theirs]) =>
    oneHot('ua: browser', `browser(request.user_agent) == "${ours}"`, (ranking) =>
      (theirs as readonly string[]).includes(knownUserAgent(ranking.userAgent).browser),
    ),
  ),
  oneHot('ua: bot', 'is_bot(request.user_agent)', isBot),
  ...['search', 'social', 'email', 'paid', 'internal', 'unknown'].map((medium) =>
    oneHot(
      'referer',
      `referrer_medium(request.referrer, "shop.example") == "${medium}"`,
      (ranking) => REFERRERS.find(({ url }) => url === ranking.referrer)?.medium === medium,
    ),
  ),
];

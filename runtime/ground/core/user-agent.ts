import Bowser from 'bowser';

/** What a user agent says. A text is '' if it is not known. */
export interface UserAgent {
  readonly platform: string;
  readonly os: string;
  readonly browser: string;
  readonly isBot: boolean;
}

/** Longer headers are cut. Those of browsers have up to about 300 characters. */
const LONGEST = 512;
/** The texts that are kept. A shop sees few different ones at a time. */
const MOST = 2000;

/** Crawlers, link previews, tests and scripts that Bowser does not name. `Cubot` is a maker of phones. */
const BOT =
  /(?<!cu)bot\b|crawl|spider|slurp|scrapy|facebookexternalhit|headlesschrome|phantomjs|lighthouse|pingdom|^(?:curl|wget|python|java|go-http-client|axios|node|undici|ruby|php|perl|libwww)\b/i;

/** The window system of Chrome OS and the BSDs, for which Bowser names no kind of device. */
const DESKTOP = /\(X11;/;

const known = new Map<string, UserAgent>();

/** Reads a header User-Agent. Equal headers are read once; the oldest of those kept is forgotten first. */
export function userAgent(header: string): UserAgent {
  const text = header.length > LONGEST ? header.slice(0, LONGEST) : header;
  let found = known.get(text);
  if (found === undefined) {
    found = Object.freeze(read(text));
    const [oldest] = known.size >= MOST ? known.keys() : [];
    if (oldest !== undefined) known.delete(oldest);
    known.set(text, found);
  }
  return found;
}

const NOTHING: UserAgent = { platform: '', os: '', browser: '', isBot: false };

function read(text: string): UserAgent {
  if (text.trim() === '') return NOTHING;
  const { platform, os, browser } = Bowser.parse(text);
  const isBot = platform.type === 'bot' || BOT.test(text);
  return {
    platform: isBot ? 'bot' : named(platform.type ?? (DESKTOP.test(text) ? 'desktop' : undefined)),
    os: named(os.name),
    browser: named(browser.name),
    isBot,
  };
}

function named(name: string | undefined): string {
  return name?.toLowerCase() ?? '';
}

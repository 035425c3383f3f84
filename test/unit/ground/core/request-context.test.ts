import { expect } from 'chai';
import fc from 'fast-check';
import { preferredLanguage } from '../../../../runtime/ground/core/accept-language.js';
import { REFERRER_MEDIA, referrerMedium } from '../../../../runtime/ground/core/referrer.js';
import { userAgent } from '../../../../runtime/ground/core/user-agent.js';

describe('a user agent', () => {
  const cases: readonly [text: string, platform: string, os: string, isBot: boolean][] = [
    ['', '', '', false],
    ['   ', '', '', false],
    ['curl/8.5.0', 'bot', '', true],
    ['python-requests/2.32.3', 'bot', '', true],
    ['Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)', 'bot', '', true],
    [
      'Mozilla/5.0 (Linux; Android 12; CUBOT NOTE 20) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36',
      'mobile',
      'android',
      false,
    ],
    [
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/126.0.0.0 Safari/537.36',
      'bot',
      'linux',
      true,
    ],
  ];
  for (const [text, platform, os, isBot] of cases)
    it(`is read: ${text.slice(0, 60)}`, () => {
      const found = userAgent(text);
      expect([found.platform, found.os, found.isBot]).to.deep.equal([platform, os, isBot]);
    });

  it('of any text is read, and beyond 512 characters it does not count', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 600 }), (text) => {
        const found = userAgent(text);
        expect(found.platform).to.be.a('string');
        expect(userAgent(text)).to.equal(found);
      }),
    );
    const long = `Mozilla/5.0 ${'x'.repeat(600)}`;
    expect(userAgent(`${long} Googlebot`)).to.equal(userAgent(long));
  });
});

describe('the medium of a referrer', () => {
  const cases: readonly [address: string, medium: string][] = [
    ['https://www.google.de/', 'search'],
    ['http://yandex.ru/search/?text=lamp', 'search'],
    ['https://uk.search.yahoo.com/', 'search'],
    ['android-app://com.google.android.googlequicksearchbox/', 'search'],
    ['https://www.pinterest.co.uk/pin/1', 'social'],
    ['https://notfacebook.com/', 'unknown'],
    ['https://facebook.com.evil.example/', 'unknown'],
    ['https://mail.example.org/inbox', 'email'],
    ['android-app://com.google.android.gm', 'email'],
    ['https://www.google.com/?gclid=x', 'paid'],
    ['https://anywhere.example/?utm_medium=CPC', 'paid'],
    ['https://anywhere.example/?utm_medium=newsletter', 'unknown'],
    ['https://SHOP.example./lamps?gclid=x', 'internal'],
    ['shop.example/lamps', 'internal'],
    ['https://myshop.example/', 'unknown'],
    ['', 'unknown'],
    ['https://', 'unknown'],
    ['javascript:alert(1)', 'unknown'],
  ];
  for (const [address, medium] of cases)
    it(`${address || 'nothing'} is ${medium}`, () => {
      expect(referrerMedium(address, ['shop.example'])).to.equal(medium);
    });

  it('of any text is one of six', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.webUrl()), (text) => {
        expect(REFERRER_MEDIA).to.include(referrerMedium(text, ['', 'shop.example']));
      }),
    );
  });
});

describe('the preferred language', () => {
  const cases: readonly [header: string, language: string][] = [
    ['de-AT, en;q=0.8', 'de'],
    ['en;q=0.5, fr ; q=0.9, DE;q=0.9', 'fr'],
    ['zh-Hant-TW', 'zh'],
    ['*', ''],
    ['*;q=1, es;q=0.1', 'es'],
    ['en;q=0, fr;q=0.001', 'fr'],
    ['en;q=0', ''],
    ['', ''],
    ['nonsense!, q=1', ''],
    [`${'x'.repeat(600)}, de`, ''],
  ];
  for (const [header, language] of cases)
    it(`of ${header.slice(0, 40) || 'nothing'} is ${language || 'not known'}`, () => {
      expect(preferredLanguage(header)).to.equal(language);
    });
});

import { amountText, conditionText } from './campaign-acts.js';
import { listOf, pinsOf, targetsOf, type Campaign } from './campaign.js';
import { daysText, say } from './campaign-language.js';
import { knownTitle } from './service.js';

/** The title of a product, as far as an answer had it, and its id. */
export function productName(id: string): string {
  const title = knownTitle(id);
  return title === id ? id : `${title} (${id})`;
}

/** What a campaign says, a line for each key that it has. */
export function campaignLines(campaign: Campaign): readonly string[] {
  const { on, hide, boost, bury, sponsor, banner, note } = campaign;
  const days = daysText(campaign);
  const hidden = listOf(hide);
  const pages = say.isFor(targetsOf(campaign).map(([, value]) => value));
  return [
    ...(days === '' ? [] : [days]),
    on?.when === undefined ? pages : `${pages} ${say.onlyWhen(on.when)}`,
    ...pinsOf(campaign).map(({ place, id }) => `${say.place(place)}: ${productName(id)}`),
    ...(hidden.length === 0 ? [] : [`${say.keys['hide']}: ${hidden.map(productName).join(', ')}`]),
    ...(boost === undefined ? [] : [`${say.boost}: ${conditionText(boost.where)} ${amountText(boost)}`]),
    ...(bury === undefined ? [] : [`${say.bury}: ${conditionText(bury.where)}`]),
    ...(sponsor === undefined
      ? []
      : [
          `${say.sponsor}: ${sponsor.places.map((one) => say.place(one)).join(', ')}: ${productName(sponsor.product)}, ${sponsor.label}`,
        ]),
    ...(banner === undefined ? [] : [`${say.banner}: ${Object.values(banner).join(', ')}`]),
    ...(note === undefined ? [] : [`${say.note}: ${note}`]),
  ];
}

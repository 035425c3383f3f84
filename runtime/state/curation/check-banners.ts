import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { CuratedBanner, CurationRule } from '../../project/config/model/curation.js';
import type { AllowedHosts } from '../../project/settings/allowed-hosts.js';

/** Reports images of banners at hosts that `image_hosts` does not name. A path has the host of the shop. */
export function checkBanners(
  rules: readonly CurationRule[],
  hosts: AllowedHosts,
  diagnostics: Diagnostics,
): void {
  const banners = new Set<CuratedBanner>(rules.flatMap((rule) => rule.banners));
  for (const { image } of banners) {
    if (image === undefined || image.value.startsWith('/')) continue;
    const url = URL.canParse(image.value) ? new URL(image.value) : undefined;
    if (url !== undefined && hosts.allows(url)) continue;
    diagnostics.error(
      'wrong_type',
      image.at,
      `\`image\`: ${url === undefined ? 'the address is malformed' : `the host ${url.host} is not one of \`image_hosts\``}`,
      'name the host in millrace.yaml, such as `image_hosts: [cdn.shop.example]`, or write a path from /',
    );
  }
}

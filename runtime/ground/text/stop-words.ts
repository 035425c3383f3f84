/**
 * Words that say little about a product, by language: articles, conjunctions, prepositions, forms of "to be". The lists
 * are short on purpose. A word that names a product in some shop (`for him`, `can`, `it`) costs more than one that stays.
 */
export const STOP_WORDS = {
  danish: 'af at de den der det dig du eller en er et for fra har i ikke jeg med og om på som til var ved vi',
  dutch:
    'aan als bij dat de der die dit een en er het hij ik in is je maar met niet of om op te van voor was wij ze zijn',
  english: 'a an and are as at be by for from in is it of on or that the this to was were with',
  finnish: 'ei että hän ja jos joka kun mutta ne niin on ovat se sekä tai tämä',
  french:
    'à au aux avec ce ces d dans de des du elle en est et il ils j je l la le les leur mais n ne nous on ou par pas pour qu que qui s sa se ses son sur un une vous y',
  german:
    'als am an auf aus bei das dass dem den der des die durch ein eine einem einen einer eines er es für im in ist mit nach nicht oder sich sie sind über um und unter vom von vor war zu zum zur',
  hungarian: 'a az egy és hogy is meg nem vagy van volt',
  italian:
    'a ad agli ai al alla alle allo con da dagli dai dal dalla dalle dallo dei degli del dell della delle dello di e è ed gli i il in l la le lo ma ne nel nella nelle non o per si su sul sulla un una uno',
  norwegian: 'av at de den der det du eller en er et for fra har i ikke jeg med og om på som til var ved vi',
  portuguese:
    'a ao aos as com como da das de do dos e é em entre mas na nas no nos não o os ou para pela pelo por que se sem um uma',
  romanian: 'a ai al ale cu de din este în la nu o pe pentru sau și un',
  russian: 'а без в во для до за и из или к как ко на не о об от по при с со у что это',
  spanish:
    'a al como con de del e el en entre es la las lo los más no o para pero por que se sin sobre su sus un una unas uno unos y',
  swedish: 'att av de den det du eller en ett för från har i inte jag med och om på som till var vi är',
  turkish: 'bir bu da de gibi her ile için mi ne şu ve veya ya',
} as const;

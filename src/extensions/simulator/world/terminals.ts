/**
 * An ocean terminal, or (with `kind: 'inland_ramp'`) an inland place where rail containers are
 * picked up.
 */
export interface TerminalFacts {
  readonly locode: string
  readonly name: string
  readonly nickname: string
  readonly firms: string | null
  readonly smdg: string | null
  readonly street: string | null
  readonly zip: string | null
  readonly kind: 'ocean_terminal' | 'inland_ramp'
}

type Facts = readonly [
  locode: string,
  name: string,
  nickname: string,
  firms: string | null,
  smdg: string | null,
  street: string | null,
  zip: string | null,
]

/**
 * Names are real; codes follow the public lists as far as they are known, and are sample data
 * otherwise.
 */
const OCEAN: readonly Facts[] = [
  ['USLAX', 'APM Terminals Pier 400', 'Pier 400', 'W185', 'APMT', '2500 Navy Way', '90731'],
  ['USLAX', 'TraPac Los Angeles', 'TraPac', 'Y258', 'TRP', '630 W Harry Bridges Blvd', '90744'],
  ['USLAX', 'Fenix Marine Services', 'FMS', 'Y257', 'FMS', '614 Terminal Way', '90731'],
  [
    'USLAX',
    'West Basin Container Terminal',
    'WBCT',
    'Y773',
    'WBCT',
    '2050 John S Gibson Blvd',
    '90731',
  ],
  [
    'USLGB',
    'Total Terminals International',
    'TTI',
    'Z952',
    'TTI',
    '301 Mediterranean Way',
    '90802',
  ],
  ['USLGB', 'Long Beach Container Terminal', 'LBCT', 'Z978', 'LBCT', '201 S Pico Ave', '90802'],
  [
    'USLGB',
    'International Transportation Service',
    'ITS',
    'Y309',
    'ITS',
    '1281 Pier G Way',
    '90802',
  ],
  ['USOAK', 'SSA Terminal', 'SSA', 'Z985', 'B58', '1717 Middle Harbor Rd', '94607'],
  ['USOAK', 'TraPac Oakland', 'TraPac', 'Y549', 'TPO', '2800 7th St', '94607'],
  ['USSEA', 'Seattle Terminal 18', 'T18', 'Z868', 'T18', '2400 11th Ave SW', '98134'],
  ['USTIW', 'Husky Terminal', 'Husky', 'Y651', 'HUS', '1101 Port of Tacoma Rd', '98421'],
  ['CAVAN', 'GCT Deltaport', 'Deltaport', null, 'GCTD', '2 Roberts Bank Rd', 'V4M 4G5'],
  ['CAVAN', 'Centerm', 'Centerm', '3891', 'CEN', '777 Centennial Rd', 'V6A 1A3'],
  ['CAPRR', 'Fairview Terminal', 'Fairview', '3808', 'FVW', null, 'V8J 3S1'],
  ['USNYC', 'Port Elizabeth', 'APM Terminals', 'E425', null, '5080 McLester St', '07201'],
  ['USNYC', 'Maher Terminals', 'Maher', 'E416', 'MAHER', '1210 Corbin St', '07201'],
  ['USNYC', 'GCT Bayonne', 'Bayonne', 'F577', 'GCTB', '302 Port Jersey Blvd', '07305'],
  ['USNYC', 'Port Newark Container Terminal', 'PNCT', 'E424', 'PNCT', '241 Calcutta St', '07114'],
  [
    'USORF',
    'Virginia International Gateway',
    'Virginia (VIG)',
    'N195',
    'VIG',
    '1000 Virginia International Gateway Blvd',
    '23703-2361',
  ],
  [
    'USORF',
    'Norfolk International Terminals',
    'Virginia (NIT)',
    'L247',
    'NIT',
    '7737 Hampton Blvd',
    '23505',
  ],
  ['USSAV', 'Garden City Terminal', 'Garden City', 'L736', 'GCT', '2 Main St', '31408'],
  ['USCHS', 'Wando Welch Terminal', 'Wando', 'N414', 'WWT', '400 Long Point Rd', '29464'],
  ['USBAL', 'Seagirt Marine Terminal', 'Seagirt', 'D204', 'SGT', '2600 Broening Hwy', '21224'],
  ['USMIA', 'South Florida Container Terminal', 'SFCT', 'N775', 'SFC', '2500 Port Blvd', '33132'],
  [
    'USHOU',
    'Barbours Cut Terminal',
    'Barbours Cut',
    'S787',
    'BCT',
    '1515 E Barbours Cut Blvd',
    '77571',
  ],
  ['USHOU', 'Bayport Container Terminal', 'Bayport', 'U795', 'BPT', '12619 Port Rd', '77586'],
  ['CAMTR', 'Termont Montreal', 'Maisonneuve', '3363', 'TER', null, 'H1N 2B4'],
  ['CAHAL', 'Halterm', 'South End', '3881', 'HAL', '577 Marginal Rd', 'B3H 4P6'],
  ['DEHAM', 'Container Terminal Altenwerder', 'CTA', null, 'CTA', 'Am Ballinkai 1', '21129'],
  ['DEHAM', 'Container Terminal Burchardkai', 'CTB', null, 'CTB', 'Am Athabaskakai', '21129'],
  ['DEBRV', 'Eurogate Bremerhaven', 'Eurogate', null, 'EUROG', null, '27568'],
  ['NLRTM', 'APM Terminals Maasvlakte II', 'APMT MVII', null, 'APM2', 'Europaweg 910', '3199 LC'],
  ['NLRTM', 'Euromax Terminal Rotterdam', 'Euromax', null, 'EMX', 'Maasvlakteweg 951', '3199 LZ'],
  ['BEANR', 'MSC PSA European Terminal', 'MPET', null, 'K1742', null, '9130'],
  ['GBFXT', 'Trinity Terminal', 'Trinity', null, 'TRINI', null, 'IP11 3SY'],
  ['GBSOU', 'DP World Southampton', 'DPWS', null, 'DPW', null, 'SO15 1DA'],
  ['ESVLC', 'MSC Terminal Valencia', 'MSCTV', null, 'MSCTV', null, '46024'],
  ['ITGOA', 'PSA Genova Pra', 'Pra', null, 'PSAGP', null, '16158'],
  ['AUSYD', 'Patrick Terminals Port Botany', 'Patrick', null, 'ASLPB', null, '2036'],
  ['AUMEL', 'Victoria International Container Terminal', 'VICT', null, 'VICTM', null, '3207'],
  ['MXZLO', 'Contecon Manzanillo', 'Contecon', null, 'CMSA', null, '28219'],
  ['CNSHA', 'Yangshan Deepwater Port Phase IV', 'Yangshan IV', null, 'YSH4', null, null],
  ['CNNGB', 'Ningbo Beilun Second Container Terminal', 'Beilun II', null, 'NBSCT', null, null],
  ['CNYTN', 'Yantian International Container Terminals', 'YICT', null, 'YICT', null, null],
  ['SGSIN', 'PSA Pasir Panjang', 'Pasir Panjang', null, 'PSAPP', null, null],
  ['KRPUS', 'Pusan New Port', 'PNC', null, 'PNC', null, null],
]

const INLAND: readonly Facts[] = [
  ['USDET', 'CSX Livernois', 'Livernois', 'H715', null, '6750 Dix St', '48209'],
  ['USCLE', 'NS Maple Heights', 'Maple Heights', 'H362', null, '5650 Lee Rd', '44137'],
  ['USROQ', 'NS Rossville', 'Rossville', 'L842', null, '330 US-72', '38066'],
  ['USATL', 'NS Austell', 'Austell', 'L744', null, '6000 Westside Rd', '30106'],
]

const asTerminal =
  (kind: TerminalFacts['kind']) =>
  ([locode, name, nickname, firms, smdg, street, zip]: Facts): TerminalFacts => ({
    locode,
    name,
    nickname,
    firms,
    smdg,
    street,
    zip,
    kind,
  })

export const TERMINALS: readonly TerminalFacts[] = [
  ...OCEAN.map(asTerminal('ocean_terminal')),
  ...INLAND.map(asTerminal('inland_ramp')),
]

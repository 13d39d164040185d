/** The habits of a carrier: its names, its delays, and the deadlines it reports. */
export interface ShippingLine {
  readonly scac: string
  readonly name: string
  readonly shortName: string
  /** Prefixes (owner codes) its containers carry. */
  readonly owners: readonly string[]
  /** Typical error of a first estimate, in days. The punctual ones are below 1.5. */
  readonly slackDays: number
  /** Whether it publishes a last free day of its own. */
  readonly publishesLastFreeDay: boolean
  readonly vessels: readonly string[]
}

type Facts = readonly [
  scac: string,
  name: string,
  shortName: string,
  owners: string,
  slackDays: number,
  publishesLastFreeDay: boolean,
  vessels: string,
]

const FACTS: readonly Facts[] = [
  [
    'MAEU',
    'Maersk',
    'Maersk',
    'MSKU MRKU MAEU',
    1.1,
    true,
    'MAERSK SYDNEY,MAERSK ESSEX,MADRID MAERSK,MAERSK ELBA,MUNICH MAERSK,MAERSK HANOI',
  ],
  [
    'MSCU',
    'Mediterranean Shipping Company',
    'MSC',
    'MSCU MEDU MSDU',
    2.4,
    false,
    'MSC ALGECIRAS,MSC CHANNE,MSC GULSUN,MSC OSCAR,MSC ISABELLA,MSC ANNA,MSC LORETO',
  ],
  [
    'CMDU',
    'CMA CGM',
    'CMA CGM',
    'CMAU CGMU APZU',
    1.9,
    true,
    'CMA CGM A.LINCOLN,CMA CGM MARCO POLO,APL COLUMBUS,CMA CGM T.ROOSEVELT,CMA CGM RIVOLI',
  ],
  [
    'COSU',
    'COSCO',
    'COSCO',
    'CSNU CCLU CBHU',
    2.0,
    true,
    'COSCO SHIPPING ARIES,COSCO HOPE,COSCO SHIPPING ANDES,XIN SHANGHAI,COSCO DEVELOPMENT',
  ],
  [
    'HLCU',
    'Hapag-Lloyd',
    'Hapag-Lloyd',
    'HLXU HLBU UACU',
    1.2,
    true,
    'HAMBURG EXPRESS,BERLIN EXPRESS,UMM SALAL,AL MURABBA,HOUSTON EXPRESS',
  ],
  [
    'ONEY',
    'Ocean Network Express',
    'ONE',
    'ONEU NYKU KKFU',
    1.8,
    false,
    'ONE APUS,ONE STORK,ONE HONOLULU,MOL TRIUMPH,NYK VIRGO',
  ],
  [
    'EGLV',
    'Evergreen',
    'Evergreen',
    'EGHU EITU EISU',
    1.5,
    true,
    'EVER FORWARD,EVER GIVEN,EVER ACE,EVER FAITH,EVER LOADING',
  ],
  [
    'HDMU',
    'Hyundai Merchant Marine',
    'Hyundai',
    'HMMU HDMU',
    1.7,
    false,
    'HMM ALGECIRAS,HYUNDAI HOPE,HMM NURI,HYUNDAI COURAGE',
  ],
  [
    'YMLU',
    'Yang Ming',
    'Yang Ming',
    'YMLU YMMU',
    2.2,
    false,
    'YM WARRANTY,YM TRIUMPH,YM UNIFORMITY,YM MATURITY',
  ],
  [
    'ZIMU',
    'ZIM Integrated Shipping Services',
    'ZIM',
    'ZCSU ZIMU',
    2.9,
    false,
    'ZIM MOUNT EVEREST,ZIM SAMMY OFER,TONGALA,ZIM KINGSTON',
  ],
  [
    'OOLU',
    'Orient Overseas Container Line',
    'OOCL',
    'OOLU OOCU',
    1.4,
    true,
    'OOCL GUANGZHOU,OOCL FRANCE,OOCL HONG KONG,OOCL SPAIN,OOCL BERLIN',
  ],
]

export const SHIPPING_LINES: readonly ShippingLine[] = FACTS.map(
  ([scac, name, shortName, owners, slackDays, publishesLastFreeDay, vessels]) => ({
    scac,
    name,
    shortName,
    owners: owners.split(' '),
    slackDays,
    publishesLastFreeDay,
    vessels: vessels.split(','),
  }),
)

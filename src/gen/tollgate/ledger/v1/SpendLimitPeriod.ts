// Original file: proto/tollgate/ledger/v1/ledger.proto

export const SpendLimitPeriod = {
  SPEND_LIMIT_PERIOD_UNSPECIFIED: 'SPEND_LIMIT_PERIOD_UNSPECIFIED',
  SPEND_LIMIT_PERIOD_TOTAL: 'SPEND_LIMIT_PERIOD_TOTAL',
  SPEND_LIMIT_PERIOD_DAY: 'SPEND_LIMIT_PERIOD_DAY',
  SPEND_LIMIT_PERIOD_WEEK: 'SPEND_LIMIT_PERIOD_WEEK',
  SPEND_LIMIT_PERIOD_MONTH: 'SPEND_LIMIT_PERIOD_MONTH',
} as const;

export type SpendLimitPeriod =
  | 'SPEND_LIMIT_PERIOD_UNSPECIFIED'
  | 0
  | 'SPEND_LIMIT_PERIOD_TOTAL'
  | 1
  | 'SPEND_LIMIT_PERIOD_DAY'
  | 2
  | 'SPEND_LIMIT_PERIOD_WEEK'
  | 3
  | 'SPEND_LIMIT_PERIOD_MONTH'
  | 4

export type SpendLimitPeriod__Output = typeof SpendLimitPeriod[keyof typeof SpendLimitPeriod]

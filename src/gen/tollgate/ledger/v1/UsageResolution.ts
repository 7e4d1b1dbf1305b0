// Original file: proto/tollgate/ledger/v1/ledger.proto

export const UsageResolution = {
  USAGE_RESOLUTION_UNSPECIFIED: 'USAGE_RESOLUTION_UNSPECIFIED',
  USAGE_RESOLUTION_HOUR: 'USAGE_RESOLUTION_HOUR',
  USAGE_RESOLUTION_DAY: 'USAGE_RESOLUTION_DAY',
} as const;

export type UsageResolution =
  | 'USAGE_RESOLUTION_UNSPECIFIED'
  | 0
  | 'USAGE_RESOLUTION_HOUR'
  | 1
  | 'USAGE_RESOLUTION_DAY'
  | 2

export type UsageResolution__Output = typeof UsageResolution[keyof typeof UsageResolution]

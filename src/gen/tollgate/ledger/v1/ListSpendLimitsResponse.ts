// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { SpendLimitUsage as _tollgate_ledger_v1_SpendLimitUsage, SpendLimitUsage__Output as _tollgate_ledger_v1_SpendLimitUsage__Output } from '../../../tollgate/ledger/v1/SpendLimitUsage.ts';

export interface ListSpendLimitsResponse {
  'limits'?: (_tollgate_ledger_v1_SpendLimitUsage)[];
}

export interface ListSpendLimitsResponse__Output {
  'limits': (_tollgate_ledger_v1_SpendLimitUsage__Output)[];
}

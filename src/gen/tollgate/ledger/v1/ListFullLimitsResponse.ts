// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { SpendLimitUsage as _tollgate_ledger_v1_SpendLimitUsage, SpendLimitUsage__Output as _tollgate_ledger_v1_SpendLimitUsage__Output } from '../../../tollgate/ledger/v1/SpendLimitUsage.ts';
import type { Long } from '@grpc/proto-loader';

export interface ListFullLimitsResponse {
  'limits'?: (_tollgate_ledger_v1_SpendLimitUsage)[];
  'end'?: (number | string | Long);
  'isAtEnd'?: (boolean);
}

export interface ListFullLimitsResponse__Output {
  'limits': (_tollgate_ledger_v1_SpendLimitUsage__Output)[];
  'end': (Long);
  'isAtEnd': (boolean);
}

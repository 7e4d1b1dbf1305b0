// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { HoldFilter as _tollgate_ledger_v1_HoldFilter, HoldFilter__Output as _tollgate_ledger_v1_HoldFilter__Output } from '../../../tollgate/ledger/v1/HoldFilter.ts';
import type { UsageDimension as _tollgate_ledger_v1_UsageDimension, UsageDimension__Output as _tollgate_ledger_v1_UsageDimension__Output } from '../../../tollgate/ledger/v1/UsageDimension.ts';

export interface QueryUsageRequest {
  'filter'?: (_tollgate_ledger_v1_HoldFilter | null);
  'groupBy'?: (_tollgate_ledger_v1_UsageDimension)[];
  'offsetHours'?: (number);
  'walletIds'?: (string)[];
  'tagKey'?: (string);
  'dearestMax'?: (number);
  'among'?: (string)[];
  'moneyOnly'?: (boolean);
  '_tagKey'?: "tagKey";
  '_dearestMax'?: "dearestMax";
}

export interface QueryUsageRequest__Output {
  'filter': (_tollgate_ledger_v1_HoldFilter__Output | null);
  'groupBy': (_tollgate_ledger_v1_UsageDimension__Output)[];
  'offsetHours': (number);
  'walletIds': (string)[];
  'tagKey'?: (string);
  'dearestMax'?: (number);
  'among': (string)[];
  'moneyOnly': (boolean);
  '_tagKey'?: "tagKey";
  '_dearestMax'?: "dearestMax";
}

// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { HoldFilter as _tollgate_ledger_v1_HoldFilter, HoldFilter__Output as _tollgate_ledger_v1_HoldFilter__Output } from '../../../tollgate/ledger/v1/HoldFilter.ts';

export interface ListHoldsRequest {
  'filter'?: (_tollgate_ledger_v1_HoldFilter | null);
  'pageSize'?: (number);
  'pageToken'?: (string);
  '_pageSize'?: "pageSize";
}

export interface ListHoldsRequest__Output {
  'filter': (_tollgate_ledger_v1_HoldFilter__Output | null);
  'pageSize'?: (number);
  'pageToken': (string);
  '_pageSize'?: "pageSize";
}

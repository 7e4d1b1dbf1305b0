// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Credit as _tollgate_ledger_v1_Credit, Credit__Output as _tollgate_ledger_v1_Credit__Output } from '../../../tollgate/ledger/v1/Credit.ts';

export interface ListCreditsResponse {
  'credits'?: (_tollgate_ledger_v1_Credit)[];
  'nextPageToken'?: (string);
}

export interface ListCreditsResponse__Output {
  'credits': (_tollgate_ledger_v1_Credit__Output)[];
  'nextPageToken': (string);
}

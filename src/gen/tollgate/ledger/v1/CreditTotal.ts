// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { CreditSource as _tollgate_ledger_v1_CreditSource, CreditSource__Output as _tollgate_ledger_v1_CreditSource__Output } from '../../../tollgate/ledger/v1/CreditSource.ts';
import type { Long } from '@grpc/proto-loader';

export interface CreditTotal {
  'source'?: (_tollgate_ledger_v1_CreditSource);
  'grantedNanos'?: (number | string | Long);
  'grants'?: (number | string | Long);
  'expiredNanos'?: (number | string | Long);
  'ends'?: (number | string | Long);
}

export interface CreditTotal__Output {
  'source': (_tollgate_ledger_v1_CreditSource__Output);
  'grantedNanos': (Long);
  'grants': (Long);
  'expiredNanos': (Long);
  'ends': (Long);
}

// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { CreditSource as _tollgate_ledger_v1_CreditSource, CreditSource__Output as _tollgate_ledger_v1_CreditSource__Output } from '../../../tollgate/ledger/v1/CreditSource.ts';
import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../../google/protobuf/Timestamp.ts';
import type { Long } from '@grpc/proto-loader';

export interface CreateTopUpRequest {
  'walletId'?: (string);
  'topUpId'?: (string);
  'amountNanos'?: (number | string | Long);
  'source'?: (_tollgate_ledger_v1_CreditSource);
  'expireTime'?: (_google_protobuf_Timestamp | null);
  'creditId'?: (string);
}

export interface CreateTopUpRequest__Output {
  'walletId': (string);
  'topUpId': (string);
  'amountNanos': (Long);
  'source': (_tollgate_ledger_v1_CreditSource__Output);
  'expireTime': (_google_protobuf_Timestamp__Output | null);
  'creditId': (string);
}

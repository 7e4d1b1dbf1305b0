// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { TransferKind as _tollgate_ledger_v1_TransferKind, TransferKind__Output as _tollgate_ledger_v1_TransferKind__Output } from '../../../tollgate/ledger/v1/TransferKind.ts';
import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../../google/protobuf/Timestamp.ts';
import type { Long } from '@grpc/proto-loader';

export interface Transfer {
  'sequence'?: (number | string | Long);
  'transferId'?: (string);
  'kind'?: (_tollgate_ledger_v1_TransferKind);
  'amountNanos'?: (number | string | Long);
  'postedAfterNanos'?: (number | string | Long);
  'holdId'?: (string);
  'createTime'?: (_google_protobuf_Timestamp | null);
  '_holdId'?: "holdId";
}

export interface Transfer__Output {
  'sequence': (Long);
  'transferId': (string);
  'kind': (_tollgate_ledger_v1_TransferKind__Output);
  'amountNanos': (Long);
  'postedAfterNanos': (Long);
  'holdId'?: (string);
  'createTime': (_google_protobuf_Timestamp__Output | null);
  '_holdId'?: "holdId";
}

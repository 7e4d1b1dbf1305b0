// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Long } from '@grpc/proto-loader';

export interface PricedItem {
  'name'?: (string);
  'count'?: (number | string | Long);
  'picos'?: (number | string | Long);
}

export interface PricedItem__Output {
  'name': (string);
  'count': (Long);
  'picos': (Long);
}

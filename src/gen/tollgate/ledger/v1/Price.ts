// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Long } from '@grpc/proto-loader';

export interface Price {
  'inputPicos'?: (number | string | Long);
  'outputPicos'?: (number | string | Long);
  'cachedInputPicos'?: (number | string | Long);
  'cacheWritePicos'?: (number | string | Long);
  'cacheWriteHourPicos'?: (number | string | Long);
}

export interface Price__Output {
  'inputPicos': (Long);
  'outputPicos': (Long);
  'cachedInputPicos': (Long);
  'cacheWritePicos': (Long);
  'cacheWriteHourPicos': (Long);
}
